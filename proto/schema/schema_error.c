/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_error.c - words a violation for the checks in schema_*.c: pointer,
 * keyword, the expected and the actual value. Values that are writeOnly are not
 * shown. Each function returns false, so a check ends with it, and words
 * nothing when no error is wanted.
 */
#include "proto/schema/schema_private.h"

#include <string.h>

void schema_put_pointer(struct schema_text *t, const struct schema_place *at)
{
	if (at == NULL || at->up == NULL)
		return;
	schema_put_pointer(t, at->up); /* CHECK_DEPTH_MAX levels at most */
	if (at->key != NULL)
		schema_put_token(t, at->key);
	else
		schema_putf(t, "/%zu", at->index);
}

/* Is V in the list of secrets, which is sorted by now? */
static bool is_listed(const struct schema_check *c, const struct json_object *v)
{
	size_t from = 0, to = c->nsecret;

	while (from < to) {
		size_t i = from + (to - from) / 2;

		if (c->secret[i] == v)
			return true;
		if ((uintptr_t)c->secret[i] < (uintptr_t)v)
			from = i + 1;
		else
			to = i;
	}
	return false;
}

/* Is AT, or a value around it, writeOnly? */
static bool schema_is_secret(const struct schema_check *c,
			     const struct schema_place *at)
{
	for (; at != NULL && c->nsecret > 0; at = at->up)
		if (at->value != NULL && is_listed(c, at->value))
			return true;
	return c->hide;
}

/* Does an error at AT mean that the alternative is of another type or tag? */
static bool tells_apart(const struct schema_sink *s,
			const struct schema_place *at, const char *keyword)
{
	bool value = strcmp(keyword, "enum") == 0 ||
		     strcmp(keyword, "const") == 0 || keyword[0] == '\0';

	if (s->base == NULL)
		return false;
	if (at == s->base)
		return value || strcmp(keyword, "type") == 0;
	return at->up == s->base && value;
}

void schema_sink_add(struct schema_check *c, const struct schema_place *at,
		     const struct schema_error *e)
{
	struct schema_sink *s = c->sink;

	if (tells_apart(s, at, e->keyword) && !s->mismatch) {
		s->mismatch = true;
		s->errs[0] = *e; /* tells more than the errors before */
	} else if (s->n < s->max) {
		s->errs[s->n] = *e;
	}
	s->n++;
}

bool schema_too_long(struct schema_check *c, const struct schema_place *at,
		     const char *keyword, const char *what,
		     const struct schema_pattern *p)
{
	uint64_t most = c->budget->allowed;

	schema_give_up(c, at, keyword, "%s too long to match against %.80s",
		       what, schema_pattern_text(p));
	schema_met(c, "pattern_steps",
		   most < CHECK_MATCH_MAX ? most : CHECK_MATCH_MAX);
	return false;
}

static void begin_error(struct schema_error *e, const struct schema_place *at,
			const char *keyword, struct schema_text *t)
{
	e->expected[0] = e->schema[0] = '\0';
	schema_text_init(t, e->keyword, sizeof(e->keyword));
	schema_put(t, keyword);
	schema_text_init(t, e->pointer, sizeof(e->pointer));
	schema_put_pointer(t, at);
	schema_text_init(t, e->text, sizeof(e->text));
	schema_put(t, e->pointer[0] != '\0' ? e->pointer : "the value");
	schema_put(t, " ");
}

bool schema_fail(struct schema_check *c, const struct schema_place *at,
		 const char *keyword, const char *expected, ...)
{
	struct schema_error e;
	struct schema_text t, x;
	va_list ap;

	if (!schema_wanted(c))
		return false;
	schema_step(c, COST_ERROR + c->depth);
	begin_error(&e, at, keyword, &t);
	schema_text_init(&x, e.expected, sizeof(e.expected));
	va_start(ap, expected);
	schema_putv(&x, expected, ap);
	va_end(ap);
	schema_put(&t, "is ");
	if (schema_is_secret(c, at))
		schema_put(&t, "secret (writeOnly, so not shown)");
	else
		schema_put_value(&t, at->value);
	schema_putf(&t, "; it must be %s", e.expected);
	schema_sink_add(c, at, &e);
	return false;
}

bool schema_fail_text(struct schema_check *c, const struct schema_place *at,
		      const char *keyword, const char *expected,
		      const char *fmt, ...)
{
	struct schema_error e;
	struct schema_text t, x;
	va_list ap;

	if (!schema_wanted(c))
		return false;
	schema_step(c, COST_ERROR + c->depth);
	begin_error(&e, at, keyword, &t);
	schema_text_init(&x, e.expected, sizeof(e.expected));
	schema_put(&x, expected);
	va_start(ap, fmt);
	schema_putv(&t, fmt, ap);
	va_end(ap);
	schema_sink_add(c, at, &e);
	return false;
}
