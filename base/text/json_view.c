/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_view.c - the strict JSON reader that allocates nothing, for the lines
 * that a program writes to its shim (worker/program/shim_lines.c). What is no
 * JSON is refused with a static reason and the offset; recursion stops at
 * JSON_VIEW_DEPTH_MAX.
 */
#include "base/text/json_view.h"

#include <string.h>

#include "base/text/hex.h"
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

static bool is_digit(const struct reader *r)
{
	return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

static bool read_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return bad(r, "no value is written like this");
	r->p += n;
	return true;
}

static bool read_digits(struct reader *r)
{
	if (!is_digit(r))
		return bad(r, "a digit is missing");
	while (is_digit(r))
		r->p++;
	return true;
}

static bool read_number(struct reader *r)
{
	(void)take(r, '-');
	if (!take(r, '0') && !read_digits(r))
		return false;
	if (take(r, '.') && !read_digits(r))
		return false;
	if (take(r, 'e') || take(r, 'E')) {
		if (!take(r, '+'))
			(void)take(r, '-');
		return read_digits(r);
	}
	return true;
}

/* What follows "\u" at P; a pair of surrogates is one. 0: no character. */
static size_t code_point(const char *p, const char *end, long *cp)
{
	long low;

	*cp = end - p < 4 ? -1 : hex_read(p, 4);
	if (*cp <= 0)
		return 0;
	if (*cp < 0xD800 || *cp > 0xDFFF)
		return 4;
	if (*cp > 0xDBFF || end - p < 10 || p[4] != '\\' || p[5] != 'u')
		return 0;
	low = hex_read(p + 6, 4);
	if (low < 0xDC00 || low > 0xDFFF)
		return 0;
	*cp = 0x10000 + ((*cp - 0xD800) << 10) + (low - 0xDC00);
	return 10;
}

static bool read_escape(struct reader *r)
{
	long cp;
	size_t n;

	if (r->p == r->end)
		return bad(r, "a string does not end");
	if (*r->p != 'u') {
		if (strchr("\"\\/bfnrt", *r->p) == NULL || *r->p == '\0')
			return bad(r, "there is no such escape");
		r->p++;
		return true;
	}
	n = code_point(r->p + 1, r->end, &cp);
	if (n == 0)
		return bad(r, "an escape is no character, or NUL");
	r->p += 1 + n;
	return true;
}

static bool read_string(struct reader *r)
{
	if (!take(r, '"'))
		return bad(r, "a string is missing");
	while (r->p < r->end && *r->p != '"') {
		if ((unsigned char)*r->p < 0x20)
			return bad(r, "a string has a control character");
		if (*r->p++ == '\\' && !read_escape(r))
			return false;
	}
	return take(r, '"') || bad(r, "a string does not end");
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

/* What is between CLOSE and what opened it, which is taken already. */
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

/* Recursion: never deeper than JSON_VIEW_DEPTH_MAX. */
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
	static const char from[] = "bfnrt";
	static const char to[] = "\b\f\n\r\t";
	const char *p = v.p + 1, *end = v.p + v.n - 1;
	size_t n = 0;

	while (p < end) {
		const char *f;
		long cp;

		if (*p != '\\') {
			out[n++] = *p++;
			continue;
		}
		p++;
		if (*p == 'u') {
			p += 1 + code_point(p + 1, end, &cp);
			n += utf8_put(out + n, (uint32_t)cp);
			continue;
		}
		f = strchr(from, *p);
		if (f != NULL)
			out[n++] = to[f - from];
		else
			out[n++] = *p;
		p++;
	}
	return n;
}

bool json_view_uint(struct json_view v, uint64_t *out)
{
	uint64_t sum = 0;

	if (v.n == 0 || v.n > 16)
		return false;
	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] < '0' || v.p[i] > '9')
			return false;
		sum = sum * 10 + (uint64_t)(v.p[i] - '0');
	}
	*out = sum;
	return sum <= INT_MAX_EXACT;
}
