/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_regex.c - rewrites ECMA-262 regular expressions (with the flag u, as
 * in JSON Schema) for PCRE2: parts of another meaning there are spelt out or
 * refused. Common leniency is taken: any punctuation may be escaped, "{" "}"
 * "]" may stand for themselves, and "[\w-.]" has a literal hyphen. The strict
 * spelling is kept, for clients without leniency. A bad expression is -EINVAL,
 * with a clause.
 */
#include "proto/schema/schema_regex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define REPEAT_MAX 65535u /* the bound of PCRE2 */
#define WEIGHT_MAX 1000000000u

int regex_bad(struct regex *r, const char *errmsg)
{
	schema_put(r->errmsg, errmsg);
	return -EINVAL;
}

void regex_put(struct regex *r, const char *s)
{
	buf_add_str(&r->out, s);
}

void regex_spell(struct regex *r, const char *from, const char *to,
		 const char *with)
{
	buf_add(&r->strict, r->spelt, (size_t)(from - r->spelt));
	buf_add_str(&r->strict, with);
	r->spelt = to;
}

static uint32_t heavier(uint32_t a, uint32_t b)
{
	return a + b < WEIGHT_MAX ? a + b : WEIGHT_MAX;
}

/* End the item before and begin the next. */
void regex_item(struct regex *r, bool repeatable)
{
	struct regex_level *l = &r->level[r->depth];

	l->weight = heavier(l->weight, r->item);
	r->item = 1;
	r->repeatable = repeatable;
}

bool regex_next_is(const struct regex *r, const char *s)
{
	size_t n = strlen(s);

	return (size_t)(r->end - r->p) >= n && memcmp(r->p, s, n) == 0;
}

bool regex_accept(struct regex *r, const char *s)
{
	if (!regex_next_is(r, s))
		return false;
	r->p += strlen(s);
	return true;
}

static bool name_char(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80 ||
	       (!first && isdigit((unsigned char)c));
}

/* Return the length of the name in "name>" at P, or 0. */
static size_t group_name_len(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && name_char(p[n], n == 0))
		n++;
	return p + n < end && p[n] == '>' ? n : 0;
}

/* Count the groups and their names first: references may precede a group. */
static int find_groups(struct regex *r)
{
	bool in_class = false;

	for (const char *p = r->p; p < r->end; p++) {
		size_t left = (size_t)(r->end - p);
		bool named = left > 3 && memcmp(p, "(?<", 3) == 0 &&
			     p[3] != '=' && p[3] != '!';

		if (*p == '\\') {
			p++;
			continue;
		}
		if (*p == '[' || *p == ']')
			in_class = *p == '[';
		if (*p != '(' || in_class ||
		    (left > 1 && p[1] == '?' && !named))
			continue;
		if (++r->groups > REGEX_GROUPS_MAX)
			return regex_bad(r, "it has too many groups");
		if (!named)
			continue;
		r->names[r->nnames++] = (struct regex_name){
		    p + 3, group_name_len(p + 3, r->end), r->groups};
	}
	return 0;
}

static const struct regex_name *find_name(const struct regex *r, const char *p,
					  size_t len)
{
	for (size_t i = 0; i < r->nnames; i++)
		if (r->names[i].len == len &&
		    memcmp(r->names[i].p, p, len) == 0)
			return &r->names[i];
	return NULL;
}

static int push(struct regex *r, const char *open, bool look)
{
	regex_item(r, false);
	if (r->depth == REGEX_NESTING_MAX)
		return regex_bad(r, "its groups are nested too deep");
	regex_put(r, open);
	r->level[++r->depth] = (struct regex_level){.look = look};
	r->looks += look;
	r->item = 0;
	return 0;
}

/*
 * Open a named group, after "(?<". PCRE2 gets the group's number, not its name.
 */
static int named_group(struct regex *r)
{
	size_t len = group_name_len(r->p, r->end);
	const struct regex_name *first;

	if (len == 0)
		return regex_bad(r, "a group's name is not a name");
	first = find_name(r, r->p, len);
	if (first == NULL || first->p != r->p)
		return regex_bad(r, "two groups have the same name");
	r->p += len + 1;
	return push(r, "(", false);
}

/* Open a group, after "(". */
static int group(struct regex *r)
{
	static const char *const looks[] = {"?=", "?!", "?<=", "?<!"};
	char open[8] = "(";

	for (size_t i = 0; i < ARRAY_LEN(looks); i++)
		if (regex_accept(r, looks[i])) {
			memcpy(open + 1, looks[i], strlen(looks[i]));
			return push(r, open, true);
		}
	if (regex_accept(r, "?:"))
		return push(r, "(?:", false);
	if (regex_accept(r, "?<"))
		return named_group(r);
	if (regex_next_is(r, "?"))
		return regex_bad(
		    r, "(?… may only be (?: (?= (?! (?<= (?<! (?<name>; "
		       "flags such as (?i) are not ECMA-262");
	return push(r, "(", false);
}

static int close_group(struct regex *r)
{
	const struct regex_level *l = &r->level[r->depth];
	uint32_t weight = heavier(l->weight, r->item);

	if (r->depth == 0)
		return regex_bad(r, "a ) has no (");
	regex_put(r, ")");
	r->looks -= l->look;
	r->depth--;
	r->item = weight;
	r->repeatable = !l->look;
	return 0;
}

static int backreference(struct regex *r, unsigned group)
{
	if (group == 0 || group > r->groups)
		return regex_bad(r, "a backreference leads to no group");
	regex_item(r, true);
	r->per_byte++;
	buf_printf(&r->out, "(?:\\g{%u})", group);
	return 0;
}

/* Add a reference by name, after "\k". */
static int named_reference(struct regex *r)
{
	const struct regex_name *n;
	size_t len;

	if (!regex_accept(r, "<") || (len = group_name_len(r->p, r->end)) == 0)
		return regex_bad(r, "\\k needs <a name>");
	n = find_name(r, r->p, len);
	r->p += len + 1;
	return backreference(r, n != NULL ? n->group : 0);
}

static void regex_literal(struct regex *r, uint32_t cp)
{
	regex_item(r, true);
	if (cp >= 0xD800 && cp <= 0xDFFF)
		regex_put(r, REGEX_NONE);
	else if (cp < 0x80 && isalnum((int)cp))
		buf_printf(&r->out, "%c", (int)cp);
	else
		buf_printf(&r->out, "\\x{%x}", cp);
}

/* Translate an escape outside a class, after the backslash. */
static int escape(struct regex *r)
{
	unsigned group = 0;
	uint32_t cp;
	int rc;

	if (regex_at_end(r))
		return regex_bad(r, "it ends in a backslash");
	if (*r->p == 'b' || *r->p == 'B') {
		regex_item(r, false);
		buf_printf(&r->out, "\\%c", *r->p++);
		return 0;
	}
	if (*r->p >= '1' && *r->p <= '9') {
		while (!regex_at_end(r) && isdigit((unsigned char)*r->p) &&
		       group <= REGEX_GROUPS_MAX)
			group = group * 10 + (unsigned)(*r->p++ - '0');
		return backreference(r, group);
	}
	if (regex_accept(r, "k"))
		return named_reference(r);
	if (strchr("dDwWsSpP", *r->p) != NULL && *r->p != '\0') {
		regex_item(r, true);
		rc = regex_set_escape(r, false);
		return rc < 0 ? rc : 0;
	}
	rc = regex_take_escape(r, &cp);
	if (rc == 0)
		return regex_bad_escape(r);
	if (rc == 1)
		regex_literal(r, cp);
	return rc < 0 ? rc : 0;
}

/* Read "n}", "n,}" or "n,m}" at P; return its end, or NULL. */
static const char *counts(const char *p, const char *end, uint32_t *min,
			  uint32_t *max)
{
	uint32_t *to = min;

	*min = 0;
	*max = UINT32_MAX;
	if (p == end || !isdigit((unsigned char)*p))
		return NULL;
	for (; p < end && *p != '}'; p++) {
		if (*p == ',' && to == min) {
			to = max;
			if (p + 1 < end && isdigit((unsigned char)p[1]))
				*max = 0;
		} else if (isdigit((unsigned char)*p)) {
			if (*to <= REPEAT_MAX)
				*to = *to * 10 + (uint32_t)(*p - '0');
		} else {
			return NULL;
		}
	}
	if (to == min)
		*max = *min;
	return p < end ? p + 1 : NULL;
}

static int quantify(struct regex *r, uint32_t min, uint32_t max,
		    const char *text, size_t len)
{
	uint64_t weight = (uint64_t)r->item * (min > 1 ? min : 1);

	if (!r->repeatable)
		return regex_bad(
		    r, "there is nothing to repeat before * + ? or {");
	if (max < min)
		return regex_bad(r,
				 "the numbers in { } are the wrong way round");
	if (min > REPEAT_MAX || (max > REPEAT_MAX && max != UINT32_MAX))
		return regex_bad(r, "a number in { } is above 65535");
	buf_add(&r->out, text, len);
	if (regex_accept(r, "?"))
		regex_put(r, "?");
	r->item = weight < WEIGHT_MAX ? (uint32_t)weight : WEIGHT_MAX;
	r->repeatable = false;
	if (r->looks > 0 && max > min)
		r->per_byte++;
	return 0;
}

/* Take a quantifier after "{", or "{" as a character. */
static int brace(struct regex *r)
{
	uint32_t min, max;
	const char *start = r->p - 1;
	const char *end = counts(r->p, r->end, &min, &max);

	if (end == NULL) {
		regex_spell(r, start, r->p, "\\{");
		regex_literal(r, '{');
		return 0;
	}
	r->p = end;
	return quantify(r, min, max, start, (size_t)(end - start));
}

static int term(struct regex *r)
{
	char c = *r->p;

	if ((unsigned char)c >= 0x80) {
		regex_literal(r, regex_take_char(r));
		return 0;
	}
	r->p++;
	switch (c) {
	case '\\':
		return escape(r);
	case '[':
		return regex_class(r);
	case '(':
		return group(r);
	case ')':
		return close_group(r);
	case '.':
		regex_item(r, true);
		regex_put(r, "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]");
		return 0;
	case '^':
	case '$':
	case '|':
		regex_item(r, false);
		buf_add(&r->out, &c, 1);
		return 0;
	case '*':
		return quantify(r, 0, UINT32_MAX, "*", 1);
	case '+':
		return quantify(r, 1, UINT32_MAX, "+", 1);
	case '?':
		return quantify(r, 0, 1, "?", 1);
	case '{':
		return brace(r);
	case '}':
	case ']':
		regex_spell(r, r->p - 1, r->p, c == '}' ? "\\}" : "\\]");
		regex_literal(r, (unsigned char)c);
		return 0;
	default:
		regex_literal(r, (unsigned char)c);
		return 0;
	}
}

static int translate(struct regex *r, const char *p, size_t len)
{
	int rc;

	r->p = r->spelt = p;
	r->end = p + len;
	rc = len > SCHEMA_PATTERN_MAX
		 ? regex_bad(r, "it is longer than 4096 bytes")
		 : find_groups(r);
	while (rc == 0 && !regex_at_end(r))
		rc = term(r);
	if (rc == 0 && r->depth > 0)
		rc = regex_bad(r, "a ( is not closed");
	return rc;
}

static void regex_free(struct regex *r)
{
	buf_fini(&r->out);
	buf_fini(&r->strict);
	free(r);
}

int schema_regex_translate(struct schema_regex *out, const char *p, size_t len,
			   struct schema_text *errmsg)
{
	struct regex *r = xcalloc(1, sizeof(*r));
	int rc;

	r->errmsg = errmsg;
	rc = translate(r, p, len);
	if (rc == 0) {
		regex_item(r, false);
		out->weight = heavier(r->level[0].weight, (uint32_t)len);
		out->per_byte = r->per_byte;
		out->text = buf_take(&r->out, &out->len);
	}
	regex_free(r);
	return rc;
}

char *schema_regex_strict(const char *p, size_t len)
{
	struct regex *r = xcalloc(1, sizeof(*r));
	struct schema_text errmsg;
	char *strict = NULL;
	char text[256];
	size_t n;

	schema_text_init(&errmsg, text, sizeof(text));
	r->errmsg = &errmsg;
	if (translate(r, p, len) == 0) {
		regex_spell(r, r->end, r->end, "");
		strict = buf_take(&r->strict, &n);
	}
	regex_free(r);
	return strict;
}
