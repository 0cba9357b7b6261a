/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_reader.h - newline-delimited messages out of a stream of bytes.
 */
#ifndef SUPERVISOR_STDIO_LINE_READER_H
#define SUPERVISOR_STDIO_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct line_reader {
	struct buf held; /* the line that has not ended yet */
	size_t max;	 /* bytes in a line */
	bool skipping;	 /* a line over MAX: its rest is let go */
	bool paused;	 /* the user's: tell no line, keep them in REST */
	struct buf rest; /* came after the line that was told last */
};

struct line_reader_ops {
	void (*on_line)(void *arg, const char *text, size_t len);
	void (*on_too_long)(void *arg); /* once for each such line */
};

/*
 * N bytes came: each line that they complete is told, until l->paused. Blank
 * ones are not. N may be 0, to go on after a pause.
 */
void line_reader_feed(struct line_reader *l, const char *data, size_t n,
		      const struct line_reader_ops *ops, void *arg);
/* Did more come than was told? */
static inline bool line_reader_has_rest(const struct line_reader *l)
{
	return buf_len(&l->rest) > 0;
}
/*
 * For on_line(): the LEN bytes at TEXT that it was told, as the caller's, by
 * no copy where they are many; what line_reader.c has of them is gone.
 */
char *line_reader_take(struct line_reader *l, const char *text, size_t len);
void line_reader_fini(struct line_reader *l);

#endif
