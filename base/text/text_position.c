/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_position.c - an offset as people find it. Called where a text that a
 * person wrote is refused; it cannot fail.
 */
#include "base/text/text_position.h"

#include <stdbool.h>

#include "base/text/utf8.h"

static bool continues(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

void text_position(const char *text, size_t at, size_t *line, size_t *column)
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
		if (i >= valid || !continues(text[i]))
			++*column;
}
