/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitize.c - makes untrusted text harmless for a terminal, and counts its
 * columns; whatever prints a template's or server's words goes through it. Pure
 * functions: every byte has an answer, bad ones a '?'.
 */
#include "cli/sanitize.h"

#include <string.h>

#include "base/text/utf8.h"

#define ELLIPSIS "\xE2\x80\xA6"

int32_t sanitize_point(const char *p, size_t n, size_t *len)
{
	return utf8_decode(p, n, len);
}

bool sanitize_acts(int32_t point)
{
	return utf8_is_control(point);
}

/* How many columns a terminal gives POINT: 1 or 2. */
static unsigned sanitize_columns(int32_t point)
{
	static const struct {
		int32_t from, to;
	} wide[] = {{0x1100, 0x115F},	{0x2E80, 0x303E},  {0x3041, 0xA4CF},
		    {0xAC00, 0xD7A3},	{0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
		    {0xFF00, 0xFF60},	{0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
		    {0x1F680, 0x1FAFF}, {0x20000, 0x3FFFD}};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (point >= wide[i].from && point <= wide[i].to)
			return 2;
	return 1;
}

size_t sanitize_width(const char *s, size_t n)
{
	size_t columns = 0, len;

	for (size_t i = 0; i < n; i += len)
		columns += sanitize_columns(sanitize_point(s + i, n - i, &len));
	return columns;
}

/* One character, made harmless, into IN[4]; its bytes. */
static size_t harmless(char in[4], const char *p, size_t n, size_t *len)
{
	int32_t point = sanitize_point(p, n, len);

	if (*p == '\n' || *p == '\r' || *p == '\t') {
		in[0] = ' ';
		return 1;
	}
	if (point < 0 || sanitize_acts(point)) {
		in[0] = '?';
		return 1;
	}
	memcpy(in, p, *len);
	return *len;
}

void sanitize_add(struct buf *out, const char *s, size_t n, size_t columns)
{
	size_t start = buf_len(out), used = 0, len;
	size_t cut = start; /* where an ellipsis still fits */

	for (size_t i = 0; i < n; i += len) {
		char c[4];
		size_t bytes = harmless(c, s + i, n - i, &len);
		size_t wide = sanitize_width(c, bytes);

		if (used + wide > columns) {
			out->len = out->off + cut;
			if (columns > 0)
				buf_add_str(out, ELLIPSIS);
			return;
		}
		buf_add(out, c, bytes);
		used += wide;
		if (used + 1 <= columns)
			cut = buf_len(out);
	}
}
