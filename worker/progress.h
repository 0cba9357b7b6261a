/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - how far the run is: set often, sent now and then. */
#ifndef WORKER_PROGRESS_H
#define WORKER_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * DONE below the highest so far is ignored; over TOTAL (0: unknown) it is
 * TOTAL.
 */
void progress_set(uint64_t done, uint64_t total, const char *text, size_t len);

/* Send what is held back, before any message that ends something. */
void progress_flush(void);

/* Send it when it is due, and that time, INT64_MAX: nothing is held back. */
void progress_tick(void);
int64_t progress_due_us(void);

#endif
