/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - lines from stdin: typed with editing and history at a terminal, or
 * as they come.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>

#include "base/buf.h"

struct lines; /* opaque */

enum lines_end {
	LINES_LINE,
	LINES_EOF,     /* or ctrl-D on an empty line */
	LINES_DROPPED, /* ctrl-C at a terminal: the line is gone */
	LINES_STOPPED, /* by a signal: signals_noted() returns the signal */
};

/*
 * Begin. The history is that of LANGUAGE. Call client_open() first, which
 * watches signals.
 */
struct lines *lines_open(const char *language);
/* Keep the history, and free L. */
void lines_close(struct lines *l);

/* Is stdin a terminal, so that a person types? */
bool lines_are_typed(const struct lines *l);
/* Is there no editing at the terminal only because libedit is missing? */
bool lines_lack_editing(const struct lines *l);

/*
 * Append the next line with a newline to LINE, after PROMPT where a person
 * types. Without LINES_LINE nothing is appended.
 */
enum lines_end lines_next(struct lines *l, const char *prompt,
			  struct buf *line);

#endif
