/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a run's progress on stderr: a bar, lines, or nothing. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *name; /* lent */
	char *message;
	uint64_t done, total;
	int64_t start_ms;
	bool quiet, draws, drawn;
	uint64_t told; /* tenths, plus one; off a terminal */
	int64_t told_ms;
};

void progress_init(struct progress *p, const char *name, bool quiet);
void progress_set(struct progress *p, uint64_t done, uint64_t total,
		  const char *message);
/* Draw again, for the time that goes by. How many ms until the next. */
int progress_tick(struct progress *p);
/* Wipe the bar, so that something else can be written. */
void progress_hide(struct progress *p);
void progress_fini(struct progress *p);

#endif
