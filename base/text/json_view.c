/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_view.c - the strict JSON reader without allocation, for the lines that a
 * program writes to its shim (worker/program/shim_lines.c). Other text is
 * refused with a static reason and the offset; recursion stops at
 * JSON_VIEW_DEPTH_MAX.
 */
#include "base/text/json_view.h"

#include <string.h>

#include "base/text/json_token.h"
#include "base/text/utf8.h"

#define INT_MAX_EXACT (UINT64_C(1) << 53)

struct reader {
	const char *start, *p, *end;
	const char *errmsg;
};

static bool bad(struct reader *r, const char *errmsg)
{
	if (r->errmsg == NULL)
		r->errmsg = errmsg;
	return false;
}

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' ||
				 *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool read_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return bad(r, "no value is written like this");
	r->p += n;
	return true;
}

/* Report FAULT; true: there is no fault. */
static bool no_fault(struct reader *r, enum json_token_fault fault)
{
	static const char *const errmsgs[JSON_TOKEN_FAULTS] = {
	    [JSON_TOKEN_NO_DIGIT] = "a digit is missing",
	    [JSON_TOKEN_LEADING_ZERO] = "a number has a leading zero",
	    [JSON_TOKEN_CONTROL] = "a string has a control character",
	    [JSON_TOKEN_NO_END] = "a string does not end",
	    [JSON_TOKEN_NO_ESCAPE] = "there is no such escape",
	    [JSON_TOKEN_NO_HEX] = "an escape is no character, or NUL",
	    [JSON_TOKEN_LONE_SURROGATE] = "an escape is no character, or NUL"};

	if (fault >= JSON_TOKEN_NO_ESCAPE)
		r->p++; /* skip the backslash, to point at its letter */
	return fault == JSON_TOKEN_GOOD || bad(r, errmsgs[fault]);
}

static bool read_number(struct reader *r)
{
	bool integer;

	return no_fault(r, json_token_number(&r->p, r->end, &integer));
}

static bool read_string(struct reader *r)
{
	const char *at;
	bool plain;

	if (!take(r, '"'))
		return bad(r, "a string is missing");
	at = r->p;
	if (!no_fault(r, json_token_string(&r->p, r->end, &plain)))
		return false;
	while (!plain && at < r->p) {
		uint32_t c = 0;
		int len = *at == '\\' ? json_token_escape(at, r->p, &c) : 1;

		if (*at == '\\' && c == 0 && len > 0)
			/* an escaped NUL is refused */
			len = -JSON_TOKEN_NO_HEX;
		if (len < 0) {
			r->p = at;
			return no_fault(r, (enum json_token_fault) - len);
		}
		at += len;
	}
	r->p++;
	return true;
}

static bool read_value(struct reader *r, int depth);

static bool read_member(struct reader *r, int depth)
{
	skip_space(r);
	if (!read_string(r))
		return false;
	skip_space(r);
	if (!take(r, ':'))
		return bad(r, "a colon is missing");
	return read_value(r, depth);
}

/* Read the items up to CLOSE; the opening bracket is taken. */
static bool read_items(struct reader *r, char close, int depth)
{
	if (depth >= JSON_VIEW_DEPTH_MAX)
		return bad(r, "it is nested too deeply");
	skip_space(r);
	if (take(r, close))
		return true;
	do {
		bool good = close == '}' ? read_member(r, depth + 1)
					 : read_value(r, depth + 1);

		if (!good)
			return false;
		skip_space(r);
	} while (take(r, ','));
	return take(r, close) || bad(r, "a comma or the end is missing");
}

/* Read a value; recursion is never deeper than JSON_VIEW_DEPTH_MAX. */
static bool read_value(struct reader *r, int depth)
{
	skip_space(r);
	if (r->p == r->end)
		return bad(r, "a value is missing");
	switch (*r->p) {
	case '{':
		r->p++;
		return read_items(r, '}', depth);
	case '[':
		r->p++;
		return read_items(r, ']', depth);
	case '"':
		return read_string(r);
	case 't':
		return read_word(r, "true");
	case 'f':
		return read_word(r, "false");
	case 'n':
		return read_word(r, "null");
	default:
		return read_number(r);
	}
}

bool json_view_check(struct json_view t, struct json_view *value,
		     const char **errmsg, size_t *at)
{
	struct reader r = {.start = t.p, .p = t.p, .end = t.p + t.n};
	size_t good = utf8_valid_len(t.p, t.n);

	if (good < t.n) {
		*errmsg = "it is not UTF-8";
		*at = good;
		return false;
	}
	skip_space(&r);
	value->p = r.p;
	if (read_value(&r, 0)) {
		value->n = (size_t)(r.p - value->p);
		skip_space(&r);
		if (r.p == r.end)
			return true;
		bad(&r, "something follows the value");
	}
	*errmsg = r.errmsg;
	*at = (size_t)(r.p - r.start);
	return false;
}

bool json_view_next(struct json_view object, size_t *at, struct json_view *key,
		    struct json_view *value)
{
	struct reader r = {.p = object.p + (*at == 0 ? 1 : *at),
			   .end = object.p + object.n};

	skip_space(&r);
	if (*at != 0 && !take(&r, ','))
		return false;
	skip_space(&r);
	key->p = r.p;
	if (!read_string(&r))
		return false; /* the object is empty */
	key->n = (size_t)(r.p - key->p);
	skip_space(&r);
	(void)take(&r, ':');
	skip_space(&r);
	value->p = r.p;
	(void)read_value(&r, 0);
	value->n = (size_t)(r.p - value->p);
	*at = (size_t)(r.p - object.p);
	return true;
}

bool json_view_equal(struct json_view v, const char *name)
{
	size_t n = strlen(name);

	return v.n == n + 2 && memcmp(v.p + 1, name, n) == 0;
}

bool json_view_member(struct json_view object, const char *name,
		      struct json_view *value)
{
	struct json_view key;
	size_t at = 0;

	while (json_view_next(object, &at, &key, value))
		if (json_view_equal(key, name))
			return true;
	return false;
}

size_t json_view_unquote(struct json_view v, char *out)
{
	const char *p = v.p + 1;
	size_t n;

	(void)json_token_unescape(out, &n, &p, v.p + v.n - 1);
	return n;
}

bool json_view_uint(struct json_view v, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < v.n; i++)
		if (v.p[i] < '0' || v.p[i] > '9')
			return false;
	return v.n > 0 && json_token_integer(v.p, v.p + v.n, out) &&
	       *out <= INT_MAX_EXACT;
}
