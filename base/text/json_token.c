/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_token.c - the only reader of JSON's numbers, strings and escapes, for
 * json_view.c, proto/json/ and the worker's Lua. Nothing is allocated; a fault
 * is returned with its place, and each caller words it.
 */
#include "base/text/json_token.h"

#include <limits.h>

#include "base/text/hex.h"
#include "base/text/utf8.h"

/* Return the place past the digits at P. */
static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

enum json_token_fault json_token_number(const char **p, const char *end,
					bool *integer)
{
	const char *from = *p + (*p < end && **p == '-');
	const char *at = digits(from, end);

	*integer = true;
	if (at - from > 1 && *from == '0') {
		*p = from;
		return JSON_TOKEN_LEADING_ZERO;
	}
	if (at > from && at < end && *at == '.') {
		*integer = false;
		from = at + 1;
		at = digits(from, end);
	}
	if (at > from && at < end && (*at | 0x20) == 'e') {
		*integer = false;
		from = at + 1;
		if (from < end && (*from == '+' || *from == '-'))
			from++;
		at = digits(from, end);
	}
	*p = at;
	return at > from ? JSON_TOKEN_GOOD : JSON_TOKEN_NO_DIGIT;
}

/*
 * Read the \u escape at P into *C. Return its length, with the second half of a
 * pair, or -FAULT.
 */
static int unicode(const char *p, const char *end, uint32_t *c)
{
	int high = end - p < 6 ? -1 : hex_read(p + 2, 4), low = -1;

	if (high < 0)
		return -JSON_TOKEN_NO_HEX;
	*c = (uint32_t)high;
	if (high < 0xD800 || high > 0xDFFF)
		return 6;
	if (high < 0xDC00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u')
		low = hex_read(p + 8, 4);
	if (low < 0xDC00 || low > 0xDFFF)
		return -JSON_TOKEN_LONE_SURROGATE;
	*c = 0x10000 + ((uint32_t)(high - 0xD800) << 10) +
	     (uint32_t)(low - 0xDC00);
	return 12;
}

/* Characters by the letter after the backslash, except \u. */
static const char escapes[UCHAR_MAX + 1] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',	 ['r'] = '\r', ['t'] = '\t',
};

int json_token_escape(const char *p, const char *end, uint32_t *c)
{
	unsigned char e = end - p > 1 ? (unsigned char)p[1] : 0;

	if (e == 'u')
		return unicode(p, end, c);
	*c = (unsigned char)escapes[e];
	return *c != 0 ? 2 : -JSON_TOKEN_NO_ESCAPE;
}

enum json_token_fault json_token_unescape(char *out, size_t *n, const char **p,
					  const char *end)
{
	char *to = out; /* no escape is shorter than its character's bytes */
	const char *at = *p;
	int len = 1;

	while (at < end && len > 0) {
		uint32_t c;

		if (*at != '\\') {
			*to++ = *at++;
			continue;
		}
		len = json_token_escape(at, end, &c);
		if (len == 2)
			*to++ = (char)c;
		else if (len > 0)
			to += utf8_put(to, c);
		at += len > 0 ? len : 0;
	}
	*n = (size_t)(to - out);
	*p = at;
	return len > 0 ? JSON_TOKEN_GOOD : (enum json_token_fault) - len;
}

bool json_token_integer(const char *p, const char *end, uint64_t *out)
{
	*out = 0;
	for (p += *p == '-'; p < end; p++)
		if (__builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
			return false;
	return true;
}
