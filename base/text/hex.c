/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hex.c - hexadecimal digits in escapes: of JSON, of URIs, of regular
 * expressions. A character that is no digit gives -1, and no byte behind it is
 * read.
 */
#include "base/text/hex.h"

int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int hex_read(const char *p, size_t n)
{
	int v = 0;

	for (size_t i = 0; i < n; i++) {
		int digit = hex_value(p[i]);

		if (digit < 0)
			return -1;
		v = v * 16 + digit;
	}
	return v;
}
