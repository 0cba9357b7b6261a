/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings are checked in whole: escapes, surrogate pairs, UTF-8, no raw
 * control characters. Numbers follow RFC 8259, section 6; -0 is the integer
 * 0. strtod(3) reads by the locale, and paddock never leaves "C".
 */
#include "proto/json/json_lex.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/hex.h"
#include "base/text/utf8.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

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

/* Name what stands at AT: a printable character, a byte, or the end. */
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

/*
 * The character of the \u escape whose backslash is at AT in a string that
 * ends at END: 0 and *AT past it (or past both halves of a pair).
 */
static int unicode(struct json_lex *x, size_t *at, size_t end, uint32_t *out)
{
	const char *p = x->text + *at;
	size_t n = end - *at;
	int hi = n < 6 ? -1 : hex_read(p + 2, 4), lo = -1;

	if (hi < 0)
		return json_lex_fail(x, *at,
				     "expected four hexadecimal "
				     "digits after \\u");
	*out = (uint32_t)hi;
	if (hi < 0xD800 || hi > 0xDFFF) {
		*at += 6;
		return 0;
	}
	if (hi < 0xDC00 && n >= 12 && p[6] == '\\' && p[7] == 'u')
		lo = hex_read(p + 8, 4);
	if (lo < 0xDC00 || lo > 0xDFFF)
		return json_lex_fail(x, *at,
				     "lone surrogate \\u%04X; a pair "
				     "is \\uD800-DBFF, then \\uDC00-DFFF",
				     (unsigned)hi);
	*out =
	    0x10000 + ((uint32_t)(hi - 0xD800) << 10) + (uint32_t)(lo - 0xDC00);
	*at += 12;
	return 0;
}

/* What a backslash and this character stand for; \u is apart. */
static const char escapes[UCHAR_MAX + 1] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',	 ['r'] = '\r', ['t'] = '\t',
};

/* Write [AT, END) of the text to scratch without its escapes. */
static int unescape(struct json_lex *x, size_t at, size_t end)
{
	char *start, *to; /* what is written is never longer than what came */
	int rc = 0;

	buf_drop(&x->scratch, buf_len(&x->scratch));
	start = to = buf_room(&x->scratch, end - at);
	while (rc == 0 && at < end) {
		unsigned char c = (unsigned char)x->text[at];
		uint32_t u = 0;

		if (c != '\\') {
			*to++ = (char)c;
			at++;
		} else if (x->text[at + 1] == 'u') {
			rc = unicode(x, &at, end, &u);
			to += utf8_put(to, u);
		} else {
			c = (unsigned char)x->text[at + 1];
			if (escapes[c] == '\0')
				return json_lex_unexpected(
				    x, at + 1,
				    "one of "
				    "\"\\/bfnrtu after \\");
			*to++ = escapes[c];
			at += 2;
		}
	}
	buf_wrote(&x->scratch, (size_t)(to - start));
	return rc;
}

/* Where the string whose quote is at x->at closes. */
static int measure_string(struct json_lex *x, size_t *end, bool *plain)
{
	size_t at = x->at + 1;

	*plain = true;
	for (; at < x->len && x->text[at] != '"'; at++) {
		unsigned c = (unsigned char)x->text[at];

		if (c < ' ')
			return json_lex_fail(x, at,
					     "control character 0x%02X in "
					     "a string; write it as \\u%04X",
					     c, c);
		if (c == '\\') {
			*plain = false;
			at++; /* what it escapes does not close the string */
		}
	}
	if (at >= x->len)
		return json_lex_fail(x, x->at,
				     "the string that starts here has no "
				     "closing quote");
	*end = at;
	return 0;
}

int json_lex_string(struct json_lex *x, const char **p, size_t *n)
{
	size_t from = x->at + 1, end = 0, good;
	bool plain;

	if (measure_string(x, &end, &plain) != 0)
		return -EBADMSG;
	good = utf8_valid_len(x->text + from, end - from);
	if (good < end - from)
		return json_lex_fail(
		    x, from + good, "not UTF-8 (byte 0x%02X)",
		    (unsigned)(unsigned char)x->text[from + good]);
	*p = x->text + from;
	*n = end - from;
	if (!plain) {
		if (unescape(x, from, end) != 0)
			return -EBADMSG;
		*p = buf_data(&x->scratch);
		*n = buf_len(&x->scratch);
	}
	x->at = end + 1;
	return 0;
}

static size_t skip_digits(const struct json_lex *x, size_t at)
{
	while (at < x->len && is_digit(x->text[at]))
		at++;
	return at;
}

/* Where the number at x->at ends, and whether it is an integer. */
static int measure_number(struct json_lex *x, size_t *end, bool *integer)
{
	size_t at = x->at + (x->text[x->at] == '-'), from = at;

	*integer = true;
	at = skip_digits(x, at);
	if (at - from > 1 && x->text[from] == '0')
		return json_lex_fail(x, from, "a number has no leading zero");
	if (at > from && at < x->len && x->text[at] == '.') {
		*integer = false;
		from = at + 1;
		at = skip_digits(x, from);
	}
	if (at > from && at < x->len && (x->text[at] | 0x20) == 'e') {
		*integer = false;
		from = at + 1;
		if (from < x->len &&
		    (x->text[from] == '+' || x->text[from] == '-'))
			from++;
		at = skip_digits(x, from);
	}
	if (at == from)
		return json_lex_unexpected(x, at, "a digit");
	*end = at;
	return 0;
}

/* The integer at [AT, END), or NULL when neither int64 nor uint64 holds it. */
static struct json_object *new_integer(const char *at, const char *end)
{
	bool negative = *at == '-';
	uint64_t v = 0;

	for (at += negative; at < end; at++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*at - '0'), &v))
			return NULL;
	if (!negative)
		return v <= INT64_MAX ? json_object_new_int64((int64_t)v)
				      : json_object_new_uint64(v);
	if (v > (uint64_t)INT64_MAX + 1)
		return NULL;
	return json_object_new_int64((int64_t)(0 - v));
}

/* The double at [FROM, END), which keeps its text. */
static int new_double(struct json_lex *x, size_t from, size_t end,
		      struct json_object **out)
{
	const char *text;
	double d;

	buf_drop(&x->scratch, buf_len(&x->scratch));
	buf_add(&x->scratch, x->text + from, end - from);
	buf_add(&x->scratch, "", 1);
	text = buf_data(&x->scratch);
	d = strtod(text, NULL);
	if (!isfinite(d))
		return json_lex_fail(x, from,
				     "a number beyond what a double "
				     "holds (about 1.8e308)");
	*out = json_object_new_double_s(d, text);
	return 0;
}

int json_lex_number(struct json_lex *x, struct json_object **out)
{
	size_t end = 0;
	bool integer;

	*out = NULL;
	if (measure_number(x, &end, &integer) != 0)
		return -EBADMSG;
	if (integer)
		*out = new_integer(x->text + x->at, x->text + end);
	if (*out == NULL && new_double(x, x->at, end, out) != 0)
		return -EBADMSG;
	if (*out == NULL)
		abort();
	x->at = end;
	return 0;
}
