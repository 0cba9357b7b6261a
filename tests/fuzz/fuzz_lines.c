/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the input of a client on stdin or on the socket: the first byte is the
 * size of each piece, the second the longest line, the third the number of lines
 * between pauses. In any such pieces, the reader must deliver the same lines as a plain
 * search for newlines.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "supervisor/clients/stdio/line_reader.h"

#define HEAD 3

struct reading {
	struct line_reader lines;
	const char *at, *end; /* of a plain search: the bytes that are left */
	/* lines before a pause, and lines since the last pause */
	size_t each, told;
};

/*
 * Find the next line; false: no line is left. *LONG: the line is longer than allowed.
 */
static bool find(struct reading *r, const char **line, size_t *len,
		 bool *is_long)
{
	while (r->at < r->end) {
		const char *newline = memchr(r->at, '\n', r->end - r->at);
		size_t n = (newline != NULL ? newline : r->end) - r->at;

		*line = r->at;
		*is_long = n > r->lines.max;
		r->at += n + (newline != NULL);
		if (*is_long)
			return true;
		if (newline == NULL)
			return false;
		*len = n > 0 && (*line)[n - 1] == '\r' ? n - 1 : n;
		if (*len > 0)
			return true;
	}
	return false;
}

static void pause_at_times(struct reading *r)
{
	r->lines.paused = ++r->told % r->each == 0;
}

static void on_line(void *arg, const char *text, size_t len)
{
	struct reading *r = arg;
	const char *line = NULL;
	size_t n = 0;
	bool is_long = true;
	char *copy;

	assert(!r->lines.paused);
	assert(find(r, &line, &n, &is_long) && !is_long && n == len);
	assert(memcmp(line, text, len) == 0);
	copy = line_reader_take(&r->lines, text, len);
	assert(memcmp(line, copy, len) == 0);
	free(copy);
	pause_at_times(r);
}

static void on_too_long(void *arg)
{
	struct reading *r = arg;
	const char *line;
	size_t len;
	bool is_long = false;

	assert(!r->lines.paused);
	assert(find(r, &line, &len, &is_long) && is_long);
	pause_at_times(r);
}

static const struct line_reader_ops ops = {on_line, on_too_long};

static void feed(struct reading *r, const char *data, size_t n)
{
	r->lines.paused = false;
	line_reader_feed(&r->lines, data, n, &ops, r);
	assert(buf_len(&r->lines.held) <= r->lines.max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading r = {0};
	const char *line, *text = (const char *)data;
	bool is_long;
	size_t len, piece;

	if (size < HEAD)
		return 0;
	piece = 1 + (size_t)data[0];
	r.lines.max = data[1];
	r.each = 1 + (size_t)data[2];
	r.at = text + HEAD;
	r.end = text + size;
	for (size_t at = HEAD; at < size; at += piece)
		feed(&r, text + at, size - at < piece ? size - at : piece);
	while (line_reader_has_rest(&r.lines))
		feed(&r, "", 0);
	assert(!find(&r, &line, &len, &is_long)); /* no line is left */
	line_reader_fini(&r.lines);
	return 0;
}
