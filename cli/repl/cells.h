/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h - cells from typed lines, or from a pipe. */
#ifndef CLI_CELLS_H
#define CLI_CELLS_H

#include "base/buf.h"
#include "cli/repl/language.h"
#include "cli/repl/lines.h"

struct cells {
	struct lines *lines;		 /* lent */
	const struct language *language; /* lent */
	struct buf held; /* a line of the next cell, or nothing */
	bool marked;	 /* a "# %%" has come: empty lines part nothing */
};

/* Set CODE to the next cell. Without LINES_LINE no cell came. */
enum lines_end cells_next(struct cells *c, struct buf *code);
void cells_fini(struct cells *c);

#endif
