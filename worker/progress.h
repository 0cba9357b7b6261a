/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - how far the run is: told often, sent now and then. */
#ifndef WORKER_PROGRESS_H
#define WORKER_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* DONE below the highest so far is ignored; over TOTAL (0: unknown) it is
 * TOTAL. */
void progress_set(uint64_t done, uint64_t total, const char *message,
		  size_t len);

/* Send what is held back. Before all that ends something, so it shows. */
void progress_flush(void);

/* Send it if its time has come. When that is, or INT64_MAX: nothing held. */
void progress_tick(void);
int64_t progress_due_us(void);

#endif
