/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - the progress of the run: set often, sent now and then. */
#ifndef WORKER_PROGRESS_H
#define WORKER_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Set the progress. DONE below the highest DONE so far is ignored; DONE above TOTAL (0:
 * unknown) becomes TOTAL.
 */
void progress_set(uint64_t done, uint64_t total, const char *text, size_t len);

/* Send held progress, before any message that ends a step or the run. */
void progress_flush(void);

/* Send held progress when due; and the due time, INT64_MAX: nothing is held. */
void progress_tick(void);
int64_t progress_due_us(void);

void progress_forget(void); /* a new run of the same worker has no progress */

#endif
