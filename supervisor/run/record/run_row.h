/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_row.h - a run as a row of the store, and a queued run of such a row.
 *
 * The row keeps inputs after the start, so that the run can be tried again. Missing
 * inputs are in run.kept.lack, JSON text:
 *
 *   ["password"]  members that are secret, and so not kept
 *   {"bytes":N,"allowed":N,"whoCanRaise":TEXT}  too large: no member is kept
 *   NULL          nothing is missing, if there are inputs at all
 */
#ifndef SUPERVISOR_RUN_RECORD_RUN_ROW_H
#define SUPERVISOR_RUN_RECORD_RUN_ROW_H

#include "supervisor/config/config.h"
#include "supervisor/run/run.h"
#include "supervisor/store/store.h"

/*
 * Set R->kept by R->inputs and CONFIG. TREE (lent) is the same inputs; NULL is
 * fine for a template without secrets.
 */
void run_row_keep_inputs(struct run *r, struct json_object *tree,
			 const struct config *config);

/*
 * Returns TREE without the members that may be secret by SCHEMA, an
 * inputsSchema; the caller's. The missing members' names are added to LACK, an
 * array. A member is secret when a part of its schema is, and when a $ref, or a
 * rule for all members, might make it secret.
 */
struct json_object *run_row_open_inputs(struct json_object *tree,
					struct json_object *schema,
					struct json_object *lack);

/*
 * Returns the last round that had come back when the run ended; ROW is a whole
 * row.
 */
uint32_t run_row_rounds_used(const struct store_run *row);
/* Write R's whole row, with R's present state. */
void run_row_put(struct store *s, struct run *r, enum store_urgency urgency,
		 store_done done, void *arg);
/*
 * Write the row of R, which has ended, and try again until the store takes the
 * row. When another run has R's key by now, R has no row.
 */
void run_row_put_again(struct store *s, struct run *r, store_done done,
		       void *arg);
/*
 * Correct the row of R, which has ended, if the row still exists: the resources
 * that R used.
 */
void run_row_correct(struct store *s, struct run *r, store_done done,
		     void *arg);

/*
 * Returns a queued run of ROW, which has inputs. Of the limits, timeout_ms and
 * ttl_ms are the caller's wishes (0: none); the caller sets the rest.
 */
struct run *run_row_revive(const struct store_run *row,
			   struct requestor *requestor, struct template *t);

/* Take the attempts of ROW, which is to be tried again, into R. */
void run_row_attempts(struct run *r, const struct store_run *row);

/* Write that ROW has failed, and is kept for TTL_MS: ROW will never be run. */
void run_row_interrupt(struct store *s, const struct store_run *row,
		       int64_t ttl_ms);

#endif
