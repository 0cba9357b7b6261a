/* SPDX-License-Identifier: Apache-2.0 */
/* progress_bar.h - a progress bar as one line of text; a pure function. */
#ifndef CLI_PROGRESS_BAR_H
#define CLI_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct progress_bar {
	const char *name;
	const char *message;  /* untrusted; may be NULL */
	uint64_t done, total; /* total 0: not known */
	int64_t elapsed_ms;
	unsigned columns; /* of the terminal; never filled to the last one */
	bool colour;
	bool utf8;
};

/* Append the line, without control characters other than those of colour. */
void progress_bar_render(struct buf *out, const struct progress_bar *b);

/* "950 ms", "12.3 s", "2 min 05 s", "3 h 07 min" */
#define PROGRESS_BAR_TIME_SIZE 32
void progress_bar_time(char out[PROGRESS_BAR_TIME_SIZE], int64_t ms);

#endif
