/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_lex.c - reads JSON's strings and numbers for json.c, by
 * base/text/json_token.c. A fault is reported with its place. -0 is the integer
 * 0. strtod(3) reads by the locale, and paddock never leaves "C".
 */
#include "proto/json/json_lex.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/hex.h"
#include "base/text/json_token.h"
#include "base/text/utf8.h"

int json_lex_fail(struct json_lex *x, size_t at, const char *fmt, ...)
{
	char *text = x->err->text;
	size_t size = sizeof(x->err->text);
	va_list ap;
	int n = snprintf(text, size, "byte %zu: ", at);

	x->err->at = at;
	va_start(ap, fmt);
	vsnprintf(text + n, size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EBADMSG;
}

/* Name the character at AT: a printable character, a byte, or the end. */
static const char *shown(char out[16], const struct json_lex *x, size_t at)
{
	unsigned char c = at < x->len ? (unsigned char)x->text[at] : 0;

	if (at >= x->len)
		return "the end";
	if (c > ' ' && c < 0x7F)
		snprintf(out, 16, "'%c'", c);
	else
		snprintf(out, 16, "byte 0x%02X", c);
	return out;
}

int json_lex_unexpected(struct json_lex *x, size_t at, const char *expected)
{
	char what[16];

	return json_lex_fail(x, at, "expected %s, found %s", expected,
			     shown(what, x, at));
}

/* Report the fault F, found at P, of the token that starts at x->at. */
static int fault(struct json_lex *x, enum json_token_fault f, const char *p)
{
	size_t at = (size_t)(p - x->text);
	unsigned c = at < x->len ? (unsigned char)*p : 0;

	switch (f) {
	case JSON_TOKEN_NO_DIGIT:
		return json_lex_unexpected(x, at, "a digit");
	case JSON_TOKEN_LEADING_ZERO:
		return json_lex_fail(x, at, "a number has no leading zero");
	case JSON_TOKEN_CONTROL:
		return json_lex_fail(x, at,
				     "control character 0x%02X in "
				     "a string; write it as \\u%04X",
				     c, c);
	case JSON_TOKEN_NO_END:
		return json_lex_fail(x, x->at,
				     "the string that starts here has no "
				     "closing quote");
	case JSON_TOKEN_NO_ESCAPE:
		return json_lex_unexpected(x, at + 1,
					   "one of "
					   "\"\\/bfnrtu after \\");
	case JSON_TOKEN_NO_HEX:
		return json_lex_fail(x, at,
				     "expected four hexadecimal "
				     "digits after \\u");
	default:
		return json_lex_unfit(x, at,
				      "lone surrogate \\u%04X; a pair "
				      "is \\uD800-DBFF, then \\uDC00-DFFF",
				      (unsigned)hex_read(p + 2, 4));
	}
}

int json_lex_string(struct json_lex *x, const char **p, size_t *n)
{
	const char *from = x->text + x->at + 1, *end = from;
	enum json_token_fault f;
	size_t good;
	bool plain;
	char *to;

	f = json_token_string(&end, x->text + x->len, &plain);
	if (f != JSON_TOKEN_GOOD)
		return fault(x, f, end);
	*p = from;
	*n = (size_t)(end - from);
	good = utf8_valid_len(from, *n);
	if (good < *n)
		return json_lex_fail(x, (size_t)(from - x->text) + good,
				     "not UTF-8 (byte 0x%02X)",
				     (unsigned)(unsigned char)from[good]);
	if (!plain) {
		buf_drop(&x->scratch, buf_len(&x->scratch));
		*p = to = buf_room(&x->scratch, *n);
		f = json_token_unescape(to, n, &from, end);
		if (f != JSON_TOKEN_GOOD)
			return fault(x, f, from);
	}
	x->at = (size_t)(end - x->text) + 1;
	return 0;
}

/*
 * Return the integer at [AT, END), or NULL when neither int64 nor uint64 holds
 * it.
 */
static struct json_object *new_integer(const char *at, const char *end)
{
	bool negative = *at == '-';
	uint64_t v;

	if (!json_token_integer(at, end, &v))
		return NULL;
	if (!negative)
		return v <= INT64_MAX ? json_object_new_int64((int64_t)v)
				      : json_object_new_uint64(v);
	if (v > (uint64_t)INT64_MAX + 1)
		return NULL;
	return json_object_new_int64((int64_t)(0 - v));
}

/* Make a double of [FROM, END), with its text kept. */
static int new_double(struct json_lex *x, const char *from, const char *end,
		      struct json_object **out)
{
	const char *text;
	double d;

	buf_drop(&x->scratch, buf_len(&x->scratch));
	buf_add(&x->scratch, from, (size_t)(end - from));
	buf_add(&x->scratch, "", 1);
	text = buf_data(&x->scratch);
	d = strtod(text, NULL);
	if (!isfinite(d))
		return json_lex_unfit(x, x->at,
				      "a number beyond what a double "
				      "holds (about 1.8e308)");
	*out = json_object_new_double_s(d, text);
	return 0;
}

int json_lex_number(struct json_lex *x, struct json_object **out)
{
	const char *from = x->text + x->at, *end = from;
	bool integer;
	enum json_token_fault f =
	    json_token_number(&end, x->text + x->len, &integer);

	*out = NULL;
	if (f != JSON_TOKEN_GOOD)
		return fault(x, f, end);
	if (integer)
		*out = new_integer(from, end);
	if (*out == NULL && new_double(x, from, end, out) != 0)
		return -EBADMSG;
	if (*out == NULL)
		abort();
	x->at = (size_t)(end - x->text);
	return 0;
}
