/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.c - Base64 for content blocks, artifacts, cursors of pages and Lua's
 * functions. The decoder takes the canonical form alone; another form, such as
 * missing padding or bits that are not zero, is -EINVAL.
 */
#include "base/text/base64.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(char *out, const void *in, size_t n)
{
	const unsigned char *p = in;

	for (; n >= 3; n -= 3, p += 3, out += 4) {
		uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];

		out[0] = alphabet[v >> 18];
		out[1] = alphabet[v >> 12 & 63];
		out[2] = alphabet[v >> 6 & 63];
		out[3] = alphabet[v & 63];
	}
	if (n > 0) {
		uint32_t v =
		    (uint32_t)p[0] << 16 | (n == 2 ? (uint32_t)p[1] << 8 : 0);

		out[0] = alphabet[v >> 18];
		out[1] = alphabet[v >> 12 & 63];
		out[2] = '=';
		if (n == 2)
			out[2] = alphabet[v >> 6 & 63];
		out[3] = '=';
	}
}

static int base64_value(char c)
{
	const char *at = c == '\0' ? NULL : strchr(alphabet, c);

	return at == NULL ? -1 : (int)(at - alphabet);
}

int base64_decode(void *out, size_t *len, const char *in, size_t n)
{
	unsigned char *to = out;

	*len = 0;
	if (n % 4 != 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i += 4) {
		size_t pad = 0;
		uint32_t v = 0;

		if (i + 4 == n)
			pad = in[i + 3] != '=' ? 0 : in[i + 2] != '=' ? 1 : 2;
		for (size_t k = 0; k < 4; k++) {
			int d = k < 4 - pad ? base64_value(in[i + k]) : 0;

			if (d < 0)
				return -EINVAL;
			v = v << 6 | (uint32_t)d;
		}
		/* bits beyond the padded end must be zero */
		if ((pad == 1 && (v & 0xFF) != 0) ||
		    (pad == 2 && (v & 0xFFFF) != 0))
			return -EINVAL;
		*to++ = (unsigned char)(v >> 16);
		if (pad < 2)
			*to++ = (unsigned char)(v >> 8);
		if (pad < 1)
			*to++ = (unsigned char)v;
	}
	*len = (size_t)(to - (unsigned char *)out);
	return 0;
}
