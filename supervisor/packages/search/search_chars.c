/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_chars.c - folds characters for search_words.c: cases and accents of
 * Latin, Greek and Cyrillic letters, wide forms. A character of another script
 * stays as it is.
 */
#include "supervisor/packages/search/search_chars.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"

struct span {
	int32_t from, to;
	enum search_char kind;
};

/* in order; a character outside of all rows is a letter */
static const struct span spans[] = {
    {0x80, 0xBF, SEARCH_PARTS},
    {0xD7, 0xD7, SEARCH_PARTS},
    {0xF7, 0xF7, SEARCH_PARTS},
    {0x300, 0x36F, SEARCH_SKIPPED}, /* accents after their letter */
    {0x60C, 0x60C, SEARCH_PARTS},
    {0x61B, 0x61F, SEARCH_PARTS},
    {0x964, 0x965, SEARCH_PARTS},
    {0xE00, 0xEFF, SEARCH_PAIRED},   /* Thai, Lao */
    {0x1000, 0x109F, SEARCH_PAIRED}, /* Burmese */
    {0x1780, 0x17FF, SEARCH_PAIRED}, /* Khmer */
    {0x2000, 0x2BFF, SEARCH_PARTS},  /* punctuation, signs, arrows */
    {0x2E00, 0x2E7F, SEARCH_PARTS},
    {0x2E80, 0x2FDF, SEARCH_PAIRED},
    {0x3000, 0x3004, SEARCH_PARTS},
    {0x3005, 0x3007, SEARCH_PAIRED},
    {0x3008, 0x3020, SEARCH_PARTS},
    {0x3021, 0x30FA, SEARCH_PAIRED}, /* Hiragana, Katakana */
    {0x30FB, 0x30FB, SEARCH_PARTS},
    {0x30FC, 0x30FF, SEARCH_PAIRED},
    {0x3400, 0x9FFF, SEARCH_PAIRED}, /* Han */
    {0xAC00, 0xD7A3, SEARCH_PAIRED}, /* Hangul */
    {0xE000, 0xF8FF, SEARCH_PARTS},
    {0xF900, 0xFAFF, SEARCH_PAIRED},
    {0xFE10, 0xFE6F, SEARCH_PARTS},
    {0xFF5F, 0xFF65, SEARCH_PARTS},
    {0xFFE0, 0xFFFF, SEARCH_PARTS},
    {0x1F000, 0x1FAFF, SEARCH_PARTS}, /* pictures */
    {0x20000, 0x3FFFF, SEARCH_PAIRED},
    {0x40000, 0x10FFFF, SEARCH_PARTS},
};

/* The letters of U+00C0 to U+017F and U+1E00 to U+1EFF without accents; a digit
   is a place in doubles[], a dot no letter. */
#define LATIN_FROM 0xC0
static const char latin[] = "aaaaaa1ceeeeiiiidnooooo.ouuuuy43aaaaaa1ceeeeiiii"
			    "dnooooo.ouuuuy4yaaaaaaccccccccddddeeeeeeeeeegggg"
			    "gggghhhhiiiiiiiiii55jjkkkllllllllllnnnnnnnnnoooo"
			    "oo22rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
#define MORE_FROM 0x1E00
static const char more[] = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiii"
			   "kkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrr"
			   "ssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyy"
			   "zzzzzzhtwyas..3.aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
			   "eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuu"
			   "uuyyyyyyyy......";
static const char *const doubles[] = {NULL, "ae", "oe", "ss", "th", "ij"};

/* Capitals, and letters with accents, by the distance of their plain letter. */
static const struct {
	int32_t from, to, add;
} shifted[] = {
    {0x386, 0x386, 0x3B1 - 0x386},
    {0x388, 0x388, 0x3B5 - 0x388},
    {0x389, 0x389, 0x3B7 - 0x389},
    {0x38A, 0x38A, 0x3B9 - 0x38A},
    {0x38C, 0x38C, 0x3BF - 0x38C},
    {0x38E, 0x38E, 0x3C5 - 0x38E},
    {0x38F, 0x38F, 0x3C9 - 0x38F},
    {0x391, 0x3A9, 0x20},
    {0x3AC, 0x3AC, 0x3B1 - 0x3AC},
    {0x3AD, 0x3AD, 0x3B5 - 0x3AD},
    {0x3AE, 0x3AE, 0x3B7 - 0x3AE},
    {0x3AF, 0x3AF, 0x3B9 - 0x3AF},
    {0x3C2, 0x3C2, 1},
    {0x3CC, 0x3CC, 0x3BF - 0x3CC},
    {0x3CD, 0x3CD, 0x3C5 - 0x3CD},
    {0x3CE, 0x3CE, 0x3C9 - 0x3CE},
    {0x401, 0x401, 0x435 - 0x401},
    {0x400, 0x40F, 0x50},
    {0x410, 0x42F, 0x20},
    {0x451, 0x451, 0x435 - 0x451},
    {0x531, 0x556, 0x30},
    {0xFF01, 0xFF5E, -0xFEE0},
};

static int32_t shift(int32_t point)
{
	for (size_t i = 0; i < ARRAY_LEN(shifted); i++)
		if (point >= shifted[i].from && point <= shifted[i].to)
			return point + shifted[i].add;
	return point;
}

static enum search_char ascii(int32_t point, char out[SEARCH_CHAR_MAX],
			      size_t *n)
{
	char c = (char)point;

	*n = 1;
	out[0] = c;
	if (c >= 'a' && c <= 'z')
		return SEARCH_LOWER;
	if (c >= '0' && c <= '9')
		return SEARCH_DIGIT;
	if (c >= 'A' && c <= 'Z') {
		out[0] = (char)(c - 'A' + 'a');
		return SEARCH_UPPER;
	}
	return c == '_' || c == '-' ? SEARCH_HYPHEN
	       : c == '\''	    ? SEARCH_SKIPPED
				    : SEARCH_PARTS;
}

/* Is POINT, a letter of LATIN or MORE, a capital? */
static bool is_capital(int32_t point)
{
	bool odd = (point >= 0x139 && point <= 0x148) ||
		   (point >= 0x179 && point <= 0x17E);

	if (point < 0x100)
		return point < 0xDF;
	return (point & 1) == (odd ? 1 : 0);
}

/* Fold POINT if it is a Latin letter with an accent: 0 or -1. */
static int unaccent(int32_t point, char out[SEARCH_CHAR_MAX], size_t *n)
{
	const char *table = point >= MORE_FROM ? more : latin;
	int32_t from = point >= MORE_FROM ? MORE_FROM : LATIN_FROM;
	size_t have = point >= MORE_FROM ? sizeof(more) : sizeof(latin), i;

	if (point < from || (size_t)(point - from) >= have - 1)
		return -1;
	i = (size_t)(point - from);
	if (table[i] == '.')
		return -1;
	*n = 1;
	out[0] = table[i];
	if (table[i] >= '1' && table[i] <= '5') {
		*n = 2;
		memcpy(out, doubles[table[i] - '0'], 2);
	}
	return 0;
}

enum search_char search_char_of(int32_t point, char out[SEARCH_CHAR_MAX],
				size_t *n)
{
	*n = 0;
	if (point == 0xAD || point == 0x2019) /* soft hyphen, apostrophe */
		return SEARCH_SKIPPED;
	point = shift(point);
	if (point < 0)
		return SEARCH_PARTS;
	if (point < 0x80)
		return ascii(point, out, n);
	if (unaccent(point, out, n) == 0)
		return is_capital(point) ? SEARCH_UPPER : SEARCH_LOWER;
	*n = utf8_put(out, (uint32_t)point);
	for (size_t i = 0; i < ARRAY_LEN(spans); i++)
		if (point <= spans[i].to)
			return point >= spans[i].from ? spans[i].kind
						      : SEARCH_LOWER;
	return SEARCH_PARTS;
}
