/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_pattern.c - matches expressions within a bound. PCRE2 counts the steps
 * of a match afresh at each start, and not every step. So an expression without
 * an anchor gets a prefix that loops over the starts, automatic possessives are
 * off (they would repeat uncounted), and the uncounted steps are estimated at
 * translation: the limit is divided by the estimate.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "proto/schema/schema_private.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_LIMIT 16u /* steps enough for most matches */
#define FIRST_PRICE 8u	/* steps charged for the first limit */
#define WEIGHT_UNIT 16u /* uncounted steps are cheaper by this */
#define LEAST_STEPS 16u /* least counted steps of a match */
/* charge for a counted step, which takes 15 ns as a rule and up to 70 */
#define STEP_PRICE 2u
/* bytes of a subject for each step charged, at each attempt */
#define BYTES_PER_STEP 4u
/* bytes of a subject for each step of the first limit */
#define BYTES_PER_LIMIT 8u

struct schema_pattern {
	pcre2_code *code;
	size_t bytes;
	char *text;
	uint32_t weight;
	uint32_t per_byte;
};

struct schema_matcher {
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static pcre2_code *compile_pattern(const char *text, size_t len, int *code)
{
	const uint32_t flags =
	    PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
	    PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_NO_AUTO_POSSESS;
	PCRE2_SIZE at;

	return pcre2_compile((PCRE2_SPTR)text, len, flags, code, &at, NULL);
}

/*
 * Compile RE. Without an anchor it gets the prefix \A(?s:.*?), so all starts
 * are tried in one counted match.
 */
static pcre2_code *compile_counted(const struct schema_regex *re, int *code)
{
	pcre2_code *c = compile_pattern(re->text, re->len, code);
	uint32_t options = 0;
	char *looped;

	if (c == NULL)
		return NULL;
	pcre2_pattern_info(c, PCRE2_INFO_ALLOPTIONS, &options);
	if (options & PCRE2_ANCHORED)
		return c;
	pcre2_code_free(c);
	looped = xasprintf("\\A(?s:.*?)(?:%s)", re->text);
	c = compile_pattern(looped, strlen(looped), code);
	free(looped);
	return c;
}

int schema_pattern_new(struct schema_pattern **out, const char *p, size_t len,
		       struct schema_text *errmsg)
{
	struct schema_regex re;
	PCRE2_UCHAR message[160];
	pcre2_code *code;
	size_t size = 0;
	int rc = schema_regex_translate(&re, p, len, errmsg);

	if (rc != 0)
		return rc;
	code = compile_counted(&re, &rc);
	free(re.text);
	if (code == NULL) {
		pcre2_get_error_message(rc, message, sizeof(message));
		schema_put(errmsg, (const char *)message);
		return -EINVAL;
	}
	*out = xcalloc(1, sizeof(**out));
	(*out)->code = code;
	(*out)->bytes = sizeof(**out) + len;
	if (pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size) == 0)
		(*out)->bytes += size;
	(*out)->text = xstrndup(p, len);
	(*out)->weight = 1 + re.weight / WEIGHT_UNIT;
	(*out)->per_byte = re.per_byte;
	return 0;
}

void schema_pattern_free(struct schema_pattern *p)
{
	if (p == NULL)
		return;
	pcre2_code_free(p->code);
	free(p->text);
	free(p);
}

const char *schema_pattern_text(const struct schema_pattern *p)
{
	return p->text;
}

size_t schema_pattern_bytes(const struct schema_pattern *p)
{
	return p->bytes;
}

static struct schema_matcher *matcher_new(void)
{
	struct schema_matcher *m = xcalloc(1, sizeof(*m));

	m->data = pcre2_match_data_create(1, NULL);
	m->context = pcre2_match_context_create(NULL);
	if (m->data == NULL || m->context == NULL)
		abort();
	pcre2_set_heap_limit(m->context, CHECK_MATCH_KIB);
	return m;
}

void schema_matcher_free(struct schema_matcher *m)
{
	if (m == NULL)
		return;
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->context);
	free(m);
}

/*
 * Match within a small limit first, then twice as much, and so on, each charged
 * as a whole: PCRE2 does not tell the steps of a match. Each attempt reads the
 * subject again, so a long subject starts with a larger limit.
 */
int schema_pattern_match(const struct schema_pattern *p, struct schema_check *c,
			 const char *s, size_t len)
{
	uint64_t weight = p->weight + (uint64_t)p->per_byte * len / WEIGHT_UNIT;
	uint64_t limit = len / BYTES_PER_LIMIT, price = FIRST_PRICE;
	int rc = PCRE2_ERROR_MATCHLIMIT;

	if (c->matcher == NULL)
		c->matcher = matcher_new();
	if (limit < FIRST_LIMIT)
		limit = FIRST_LIMIT;
	else
		price = limit * STEP_PRICE;
	for (; rc == PCRE2_ERROR_MATCHLIMIT; limit *= 2) {
		uint64_t steps = limit / weight;

		if (steps < LEAST_STEPS) {
			steps = LEAST_STEPS;
			price = steps * weight * STEP_PRICE;
		}
		/* refused before the match begins when the budget has less left */
		price += len / BYTES_PER_STEP;
		if (limit > CHECK_MATCH_MAX ||
		    c->steps + price > c->budget->allowed ||
		    !schema_step(c, price))
			return -E2BIG;
		pcre2_set_match_limit(c->matcher->context, (uint32_t)steps);
		rc = pcre2_match(p->code, (PCRE2_SPTR)s, len, 0, 0,
				 c->matcher->data, c->matcher->context);
		price = limit * 2 * STEP_PRICE;
	}
	if (rc >= 0)
		return 1;
	/*
	 * A subject that is not UTF-8 does not match; other codes are limits.
	 */
	if (rc == PCRE2_ERROR_NOMATCH ||
	    (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21))
		return 0;
	return -E2BIG;
}
