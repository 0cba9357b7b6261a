/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a run's progress on stderr: a bar, lines, or nothing. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct progress {
	const char *name; /* lent */
	char *message;
	uint64_t done, total;
	int64_t start_ms;
	bool quiet, draws, drawn;
	uint64_t told; /* last tenth printed, plus one; off a terminal */
	int64_t told_ms;
};

void progress_init(struct progress *p, const char *name, bool quiet);
void progress_set(struct progress *p, uint64_t done, uint64_t total,
		  const char *message);
/* Draw the bar again with the new time. Returns the ms until the next call. */
int progress_tick(struct progress *p);
/* Wipe the bar, so that other text can be written. */
void progress_hide(struct progress *p);
void progress_fini(struct progress *p);

struct progress_bar {
	const char *name;
	const char *message;  /* untrusted; may be NULL */
	uint64_t done, total; /* total 0: not known */
	int64_t elapsed_ms;
	unsigned columns; /* of the terminal; the last column stays empty */
	bool colour;
	bool utf8;
};

/* Append the line, without control characters except colours. */
void progress_bar_render(struct buf *out, const struct progress_bar *b);

#endif
