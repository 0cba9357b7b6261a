/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unicode.c - one table of code points, by which the log, the command and its
 * file names check each character of others' text. It cannot fail.
 */
#include "base/text/unicode.h"

#include "base/text/utf8.h"

/*
 * By DerivedCoreProperties.txt and PropList.txt of Unicode 15.1, in order.
 * Left out on purpose: 034F, 17B4-17B5, 180B-180F, 200C-200D, FE00-FE0F.
 */
static const struct {
	int32_t from, to;
} acting[] = {
    {0x00, 0x1F},	/* C0 */
    {0x7F, 0x9F},	/* DEL, C1 */
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
    {0xFFFE, 0xFFFF},	/* no characters */
    {0x1BCA0, 0x1BCA3}, /* shorthand format controls */
    {0x1D173, 0x1D17A}, /* musical beams and slurs */
    {0xE0000, 0xE0FFF}, /* tags, more variation selectors */
};

int32_t unicode_decode(const char *p, size_t n, size_t *len)
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

bool unicode_is_control(int32_t point)
{
	if (point >= 0x20 && point < 0x7F)
		return false;
	for (size_t i = 0; i < sizeof(acting) / sizeof(acting[0]); i++)
		if (point <= acting[i].to)
			return point >= acting[i].from;
	return false;
}
