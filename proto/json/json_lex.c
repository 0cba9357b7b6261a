/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_lex.c - makes values of the tokens of base/text/json_scan.c for json.c. A
 * fault is reported with its place. -0 is the integer
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
#include "base/text/json_scan.h"
#include "base/text/utf8.h"

int json_lex_fail(struct json_lex *x, const char *at, const char *fmt, ...)
{
	char *text = x->err->text;
	size_t size = sizeof(x->err->text);
	va_list ap;
	int n = snprintf(text, size, "byte %zu: ", (size_t)(at - x->text));

	x->err->at = (size_t)(at - x->text);
	va_start(ap, fmt);
	vsnprintf(text + n, size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EBADMSG;
}

int json_lex_unexpected(struct json_lex *x, const char *at,
			const char *expected)
{
	unsigned char c = at < x->scan.end ? (unsigned char)*at : 0;
	char what[16] = "the end";

	if (at < x->scan.end)
		snprintf(what, sizeof(what),
			 c > ' ' && c < 0x7F ? "'%c'" : "byte 0x%02X", c);
	return json_lex_fail(x, at, "expected %s, found %s", expected, what);
}

int json_lex_fault(struct json_lex *x, enum json_fault fault, const char *p)
{
	unsigned c = p < x->scan.end ? (unsigned char)*p : 0;

	switch (fault) {
	case JSON_FAULT_NO_DIGIT:
		return json_lex_unexpected(x, p, "a digit");
	case JSON_FAULT_LEADING_ZERO:
		return json_lex_fail(x, p, "a number has no leading zero");
	case JSON_FAULT_CONTROL:
		return json_lex_fail(x, p,
				     "control character 0x%02X in "
				     "a string; write it as \\u%04X",
				     c, c);
	case JSON_FAULT_NO_END:
		return json_lex_fail(x, x->scan.token,
				     "the string that starts here has no "
				     "closing quote");
	case JSON_FAULT_NO_ESCAPE:
		return json_lex_unexpected(x, p + 1,
					   "one of "
					   "\"\\/bfnrtu after \\");
	case JSON_FAULT_NO_HEX:
		return json_lex_fail(x, p,
				     "expected four hexadecimal "
				     "digits after \\u");
	default:
		return json_lex_unfit(x, p,
				      "lone surrogate \\u%04X; a pair "
				      "is \\uD800-DBFF, then \\uDC00-DFFF",
				      (unsigned)hex_read(p + 2, 4));
	}
}

int json_lex_string(struct json_lex *x, const char **p, size_t *n)
{
	const char *from = x->scan.token + 1, *end = x->scan.p - 1;
	enum json_fault fault;
	size_t good;
	char *to;

	*p = from;
	*n = (size_t)(end - from);
	good = utf8_valid_len(from, *n);
	if (good < *n)
		return json_lex_fail(x, from + good, "not UTF-8 (byte 0x%02X)",
				     (unsigned)(unsigned char)from[good]);
	if (x->scan.plain)
		return 0;
	buf_drop(&x->scratch, buf_len(&x->scratch));
	*p = to = buf_room(&x->scratch, *n);
	fault = json_scan_unescape(to, n, &from, end);
	return fault == JSON_FAULT_NONE ? 0 : json_lex_fault(x, fault, from);
}

/*
 * Return the integer at [AT, END), or NULL when neither int64 nor uint64 holds
 * it.
 */
static struct json_object *new_integer(const char *at, const char *end)
{
	bool negative = *at == '-';
	uint64_t v;

	if (!json_scan_integer(at, end, &v))
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
		return json_lex_unfit(x, from,
				      "a number beyond what a double "
				      "holds (about 1.8e308)");
	*out = json_object_new_double_s(d, text);
	return 0;
}

int json_lex_number(struct json_lex *x, struct json_object **out)
{
	const char *from = x->scan.token, *end = x->scan.p;

	*out = x->scan.integer ? new_integer(from, end) : NULL;
	if (*out == NULL && new_double(x, from, end, out) != 0)
		return -EBADMSG;
	if (*out == NULL)
		abort();
	return 0;
}
