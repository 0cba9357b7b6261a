/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - which bytes are UTF-8 and where they may be cut, for those who read
 * or shorten others' text. It gives lengths and refuses nothing: its callers
 * do.
 */
#include "base/text/utf8.h"

#include <string.h>

/* The length of the sequence at P, or 0 when none of N bytes forms one. */
static size_t sequence(const unsigned char *p, size_t n)
{
	unsigned char lo = 0x80, hi = 0xBF;
	size_t len;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		len = 2;
	else if (p[0] >= 0xE0 && p[0] <= 0xEF)
		len = 3;
	else if (p[0] >= 0xF0 && p[0] <= 0xF4)
		len = 4;
	else
		return 0;
	if (n < len)
		return 0;
	if (p[0] == 0xE0) /* no overlong form */
		lo = 0xA0;
	else if (p[0] == 0xED) /* no surrogate */
		hi = 0x9F;
	else if (p[0] == 0xF0)
		lo = 0x90;
	else if (p[0] == 0xF4) /* nothing above U+10FFFF */
		hi = 0x8F;
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return len;
}

size_t utf8_valid_len(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t i = 0;

	while (i < n) {
		size_t len = sequence(u + i, n - i);

		if (len == 0)
			return i;
		i += len;
	}
	return n;
}

size_t utf8_cut(const char *p, size_t n, size_t max)
{
	if (n <= max)
		return n;
	while (max > 0 && ((unsigned char)p[max] & 0xC0) == 0x80)
		max--;
	return max;
}

size_t utf8_put(char *out, uint32_t c)
{
	static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (c & 0x3F));
		c >>= 6;
	}
	out[0] = (char)(lead[n] | c);
	return n;
}

void utf8_mend(char *text)
{
	size_t n = strlen(text), to = 0, good;

	for (size_t i = 0; i < n; i += good + 1) { /* and past what is bad */
		good = utf8_valid_len(text + i, n - i);
		memmove(text + to, text + i, good);
		to += good;
	}
	text[to] = '\0';
}
