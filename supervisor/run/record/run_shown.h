/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_shown.h - shows a run of this instance, while the run goes on, to other
 * instances on the same state.
 */
#ifndef SUPERVISOR_RUN_RECORD_RUN_SHOWN_H
#define SUPERVISOR_RUN_RECORD_RUN_SHOWN_H

#include "supervisor/context.h"
#include "supervisor/run/run.h"

struct run_shows;

enum run_shown_part { RUN_SHOWN_VIEW, RUN_SHOWN_LOG, RUN_SHOWN_PARTS };

/*
 * Make the list of shown runs; CTX is lent. ASKED returns a run's questions to
 * clients, for clients at other machines: JSON, the caller's, or NULL. ASKED
 * may be NULL: there are no questions.
 */
struct run_shows *run_shows_new(struct context *ctx,
				char *(*asked)(const struct run *r));
void run_shows_free(struct run_shows *m); /* after every run is released */

/* Show the part P of R until UNTIL_MS (wall). */
void run_show(struct run_shows *m, struct run *r, enum run_shown_part p,
	      int64_t until_ms);

#endif
