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
	struct buf held; /* the beginning of an unfinished line */
	size_t max;	 /* most bytes of a line */
	bool skipping;	 /* drop the rest of a line over MAX */
	bool paused; /* set by the user: report no line, keep bytes in REST */
	struct buf rest; /* bytes after the last reported line */
};

struct line_reader_ops {
	void (*on_line)(void *arg, const char *text, size_t len);
	void (*on_too_long)(void *arg); /* once for a line over MAX */
};

/*
 * Feed N bytes: report each line they complete, until l->paused. Blank lines
 * are not reported. N may be 0, to go on after a pause.
 */
void line_reader_feed(struct line_reader *l, const char *data, size_t n,
		      const struct line_reader_ops *ops, void *arg);
/* Are bytes left after the last reported line? */
static inline bool line_reader_has_rest(const struct line_reader *l)
{
	return buf_len(&l->rest) > 0;
}
/*
 * For on_line(): return TEXT (LEN bytes, as reported) as the caller's own. Long
 * lines are not copied: the reader gives its buffer away.
 */
char *line_reader_take(struct line_reader *l, const char *text, size_t len);
void line_reader_fini(struct line_reader *l);

#endif
