/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - validates and cuts UTF-8, and tells a character's effect and place,
 * for readers and writers of untrusted text. Nothing is refused here: the
 * callers refuse.
 */
#include "base/text/utf8.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Return the length of the sequence at P (N bytes), or 0 when not valid. */
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
	if (p[0] == 0xE0) /* an overlong form is refused */
		lo = 0xA0;
	else if (p[0] == 0xED) /* a surrogate is refused */
		hi = 0x9F;
	else if (p[0] == 0xF0)
		lo = 0x90;
	else if (p[0] == 0xF4) /* a code point above U+10FFFF is refused */
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
		uint64_t eight;
		size_t len;

		/* eight bytes at once: most texts are ASCII */
		while (n - i >= sizeof(eight) &&
		       (memcpy(&eight, u + i, sizeof(eight)),
			(eight & 0x8080808080808080U) == 0))
			i += sizeof(eight);
		if (i == n)
			break;
		len = sequence(u + i, n - i);
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

static size_t mend(char *text, size_t n)
{
	size_t to = 0, good;

	for (size_t i = 0; i < n; i += good + 1) { /* skip a bad byte */
		good = utf8_valid_len(text + i, n - i);
		memmove(text + to, text + i, good);
		to += good;
	}
	text[to] = '\0';
	return to;
}

void utf8_mend(char *text)
{
	(void)mend(text, strlen(text));
}

char *utf8_mended(const char *text, size_t *len)
{
	char *copy;

	if (utf8_ok(text, *len))
		return NULL;
	copy = xstrndup(text, *len);
	*len = mend(copy, *len);
	return copy;
}

/*
 * Characters that act, in order, by DerivedCoreProperties.txt and PropList.txt
 * of Unicode 15.1. Left out on purpose: 034F, 17B4-17B5, 180B-180F, 200C-200D,
 * FE00-FE0F.
 */
static const struct {
	int32_t from, to;
} acting[] = {
    {0x00, 0x1F},	/* C0 controls */
    {0x7F, 0x9F},	/* DEL and C1 controls */
    {0xAD, 0xAD},	/* soft hyphen */
    {0x61C, 0x61C},	/* Arabic letter mark */
    {0x115F, 0x1160},	/* Hangul fillers */
    {0x200B, 0x200B},	/* zero width space */
    {0x200E, 0x200F},	/* direction marks */
    {0x2028, 0x202E},	/* line and paragraph separators, embeddings */
    {0x2060, 0x206F},	/* invisible operators, isolates */
    {0x3164, 0x3164},	/* Hangul filler */
    {0xFEFF, 0xFEFF},	/* byte order mark */
    {0xFFA0, 0xFFA0},	/* halfwidth Hangul filler */
    {0xFFF0, 0xFFFB},	/* reserved, interlinear annotation */
    {0xFFFE, 0xFFFF},	/* noncharacters */
    {0x1BCA0, 0x1BCA3}, /* shorthand format controls */
    {0x1D173, 0x1D17A}, /* musical beams and slurs */
    {0xE0000, 0xE0FFF}, /* tags, more variation selectors */
};

int32_t utf8_decode(const char *p, size_t n, size_t *len)
{
	static const unsigned char lead[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	unsigned char c = (unsigned char)p[0];
	size_t want = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
	int32_t point = c & lead[want];

	*len = 1;
	if (want > n || utf8_valid_len(p, want) != want)
		return -1;
	for (size_t i = 1; i < want; i++)
		point = point << 6 | ((unsigned char)p[i] & 0x3F);
	*len = want;
	return point;
}

bool utf8_is_control(int32_t point)
{
	if (point >= 0x20 && point < 0x7F)
		return false;
	for (size_t i = 0; i < sizeof(acting) / sizeof(acting[0]); i++)
		if (point <= acting[i].to)
			return point >= acting[i].from;
	return false;
}

size_t utf8_escape(char out[UTF8_ESCAPE_SIZE], int32_t point)
{
	uint32_t above = (uint32_t)point - 0x10000;
	int n;

	if (point <= 0xFFFF)
		n = snprintf(out, UTF8_ESCAPE_SIZE, "\\u%04x", (unsigned)point);
	else
		n = snprintf(out, UTF8_ESCAPE_SIZE, "\\u%04x\\u%04x",
			     0xD800 | above >> 10, 0xDC00 | (above & 0x3FF));
	return (size_t)n;
}

void utf8_position(const char *text, size_t at, size_t *line, size_t *column)
{
	size_t from = 0, valid;

	*line = 1;
	*column = 1;
	for (size_t i = 0; i < at; i++) {
		if (text[i] != '\n')
			continue;
		++*line;
		from = i + 1;
	}
	valid = from + utf8_valid_len(text + from, at - from);
	for (size_t i = from; i < at; i++)
		/* not a further byte of a character */
		if (i >= valid || ((unsigned char)text[i] & 0xC0) != 0x80)
			++*column;
}

bool utf8_printable(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;

	/* C1 is C2 80 to C2 9F */
	for (size_t i = 0; i < n; i++)
		if (u[i] < 0x20 || u[i] == 0x7F ||
		    (u[i] == 0xC2 && i + 1 < n && u[i + 1] < 0xA0))
			return false;
	return utf8_ok(p, n);
}
