/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_shown.h - what other instances on this state see of a run of ours that goes on.
 */
#ifndef SUPERVISOR_SHOWN_RUN_SHOWN_H
#define SUPERVISOR_SHOWN_RUN_SHOWN_H

#include "supervisor/context.h"
#include "supervisor/run/run.h"

struct run_shows;

enum run_shown_part { RUN_SHOWN_VIEW, RUN_SHOWN_LOG, RUN_SHOWN_PARTS };

/*
 * CTX is lent. ASKED is what a run asks of clients, for those at other machines: JSON,
 * the caller's, or NULL. It may be NULL: nothing is asked.
 */
struct run_shows *run_shows_new(struct context *ctx,
				char *(*asked)(const struct run *r));
void run_shows_free(struct run_shows *m); /* every run is released */

/* P of R is asked for until then (wall). */
void run_show(struct run_shows *m, struct run *r, enum run_shown_part p,
	      int64_t until_ms);

#endif
