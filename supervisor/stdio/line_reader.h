/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_reader.h - newline-delimited messages out of a stream of bytes.
 */
#ifndef SUPERVISOR_STDIO_LINE_READER_H
#define SUPERVISOR_STDIO_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct lines {
	struct buf held;  /* the line that has not ended yet */
	size_t max;	  /* bytes in a line */
	bool skipping;	  /* a line over MAX: its rest is let go */
	bool paused;	  /* the user's: tell no line, keep them in REST */
	struct buf rest;  /* came after the line that was told last */
};

struct lines_ops {
	void (*on_line)(void *arg, const char *text, size_t len);
	void (*on_too_long)(void *arg); /* once for each such line */
};

/*
 * N bytes came: each line that they complete is told, until l->paused. Blank
 * ones are not. N may be 0, to go on after a pause.
 */
void lines_add(struct lines *l, const char *data, size_t n,
	       const struct lines_ops *ops, void *arg);
/* Did more come than was told? */
static inline bool lines_rest(const struct lines *l)
{
	return buf_len(&l->rest) > 0;
}
/*
 * For on_line(): the LEN bytes at TEXT that it was told, as the caller's, by
 * no copy where they are many; what line_reader.c has of them is gone.
 */
char *lines_take(struct lines *l, const char *text, size_t len);
void lines_fini(struct lines *l);

#endif
