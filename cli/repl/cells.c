/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c - puts lines together to cells, for repl.c. A person's cell ends where
 * the code is whole. On a pipe cells are parted by "# %%", or by empty lines
 * outside brackets, quotes and blocks. The end of input ends a piped cell.
 */
#include "cli/repl/cells.h"

#include <ctype.h>
#include <string.h>

static bool is_blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isspace((unsigned char)p[i]))
			return false;
	return true;
}

/* Return the last line of CODE, with its newline; *N is its length. */
static const char *last_line(const struct buf *code, size_t *n)
{
	const char *text = buf_data(code);
	size_t len = buf_len(code);
	const char *nl = len > 1 ? memrchr(text, '\n', len - 1) : NULL;
	const char *line = nl != NULL ? nl + 1 : text;

	*n = len - (size_t)(line - text);
	return line;
}

static bool ends_blank(const struct buf *code)
{
	size_t n;
	const char *line = last_line(code, &n);

	return is_blank(line, n);
}

static void clear(struct buf *b)
{
	buf_drop(b, buf_len(b));
}

/* ---- typed ---- */

/* Ask for a line more. Two empty lines in a row end the cell: *ENDS. */
static enum lines_end ask_line(struct cells *c, struct buf *code, bool *ends)
{
	bool first = buf_len(code) == 0, was = !first && ends_blank(code);
	enum lines_end how = lines_next(
	    c->lines, first ? c->language->prompt : c->language->more, code);

	if (how == LINES_LINE && first && ends_blank(code))
		clear(code);
	else if (how == LINES_LINE)
		*ends = (was && ends_blank(code)) ||
			!language_goes_on(c->language, buf_data(code),
					  buf_len(code));
	return how;
}

static enum lines_end next_typed(struct cells *c, struct buf *code)
{
	bool ends = false;

	while (!ends) {
		enum lines_end how = ask_line(c, code, &ends);

		if (how != LINES_LINE)
			return how;
	}
	return LINES_LINE;
}

/* ---- on a pipe ---- */

/* Is LINE the mark between cells, "# %%" or as the language has comments? */
static bool is_mark(const char *line, size_t n)
{
	static const char *const marks[] = {"#", "//", "--"};

	for (size_t i = 0; i < 3; i++) {
		size_t k = strlen(marks[i]);

		if (n < k || memcmp(line, marks[i], k) != 0)
			continue;
		while (k < n && line[k] == ' ')
			k++;
		return n - k >= 2 && memcmp(line + k, "%%", 2) == 0;
	}
	return false;
}

/* Does the cell CODE end before LINE? */
static bool ends_before(const struct cells *c, const struct buf *code,
			const char *line, size_t n)
{
	const char *text = buf_data(code);

	if (c->marked || buf_len(code) == 0)
		return false;
	if (is_blank(line, n))
		return !language_goes_on(c->language, text, buf_len(code));
	return ends_blank(code) &&
	       !language_is_open(c->language, text, buf_len(code)) &&
	       !language_continues(c->language, line, n);
}

static enum lines_end next_line(struct cells *c, struct buf *line)
{
	if (buf_len(&c->held) == 0)
		return lines_next(c->lines, "", line);
	buf_add(line, buf_data(&c->held), buf_len(&c->held));
	clear(&c->held);
	return LINES_LINE;
}

/* Add LINE to CODE; true: the cell has ended. */
static bool add_line(struct cells *c, struct buf *code, const struct buf *line)
{
	const char *text = buf_data(line);
	size_t n = buf_len(line);
	bool some =
	    buf_len(code) > 0 && !is_blank(buf_data(code), buf_len(code));

	if (is_mark(text, n)) {
		c->marked = true;
		if (!some)
			clear(code);
		return some;
	}
	if (some && ends_before(c, code, text, n)) {
		if (!is_blank(text, n))
			buf_add(&c->held, text, n);
		return true;
	}
	if (some || !is_blank(text, n))
		buf_add(code, text, n);
	return false;
}

static enum lines_end next_piped(struct cells *c, struct buf *code)
{
	struct buf line = {0};
	enum lines_end how;

	do {
		clear(&line);
		how = next_line(c, &line);
	} while (how == LINES_LINE && !add_line(c, code, &line));
	buf_fini(&line);
	return how == LINES_EOF && buf_len(code) > 0 ? LINES_LINE : how;
}

/* ---- any input ---- */

enum lines_end cells_next(struct cells *c, struct buf *code)
{
	clear(code);
	return lines_are_typed(c->lines) ? next_typed(c, code)
					 : next_piped(c, code);
}

void cells_fini(struct cells *c)
{
	buf_fini(&c->held);
}
