/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.c - prints the words of a template as a quotation, for ask.c. Nothing
 * here can fail: a text too long is cut, and terminal.c takes out characters
 * that act on a terminal.
 */
#include "cli/terminal/quote.h"

#include <string.h>
#include <unistd.h>

#include "cli/terminal/terminal.h"

#define QUOTE_LINES 100 /* lines of a message; a longer message is cut */

/*
 * Return where a line of at most COLUMNS ends in TEXT (clean, N bytes): at the
 * last blank that fits, else at the last whole character.
 */
static size_t fit_columns(const char *text, size_t n, size_t columns)
{
	size_t end = 0, blank = 0;

	while (end < n && sanitize_width(text, end + 1) <= columns) {
		if (text[end] == ' ')
			blank = end;
		end++;
	}
	while (end < n && end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
		end--;
	if (end == n || blank == 0)
		return end > 0 ? end : n;
	return blank;
}

void quote_line(const char *mark, const char *words, size_t n, size_t *left)
{
	size_t columns = text_wrap_columns(STDERR_FILENO);
	size_t room = columns > strlen(mark) + 8 ? columns - strlen(mark) : 8;
	struct buf clean = {0};
	size_t at = 0, len;

	sanitize_add(&clean, words, n, SANITIZE_NO_LIMIT);
	len = buf_len(&clean);
	do {
		const char *text = len > 0 ? buf_data(&clean) + at : "";
		size_t line = fit_columns(text, len - at, room - 1);

		safe_fprintf(stderr, "%s%.*s\n", mark, (int)line, text);
		at += line;
		while (at < len && buf_data(&clean)[at] == ' ')
			at++;
	} while (--*left > 0 && at < len);
	buf_fini(&clean);
}

/* Mark each line of the template's, so that none can pass for paddock's. */
void quote(const char *words)
{
	size_t left = QUOTE_LINES;

	while (words != NULL && *words != '\0' && left > 0) {
		size_t n = strcspn(words, "\n");

		quote_line("  | ", words, n, &left);
		words += n + (words[n] == '\n' ? 1 : 0);
	}
	if (left == 0)
		message_more("  (what else it says is left out)");
}

void quote_within(struct buf *out, const char *text, size_t n, size_t columns)
{
	struct buf b = {0};

	sanitize_add(&b, text, n, columns);
	for (size_t i = 0; i < buf_len(&b); i++) {
		char c = buf_data(&b)[i];

		buf_add(out, c == '"' || c == ']' ? "'" : &c, 1);
	}
	buf_fini(&b);
}
