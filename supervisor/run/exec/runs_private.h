/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_private.h - types and functions that the files of runs share; no other
 * file includes the header. runs_core.h has those that supervisor/cluster/ uses, too.
 *
 *   runs.c         the table of all open runs: look-up, cancelling
 *   runs_create.c  makes a run
 *   runs_family.c  runs that call runs: bounds and places
 *   runs_queue.c   starts queued runs, which have their files and packages
 *   runs_park.c    runs that wait for an answer without a client
 *   runs_output.c  the output of a worker that has ended
 *   runs_finish.c  the end of a run: view, row, news
 *   runs_retry.c   a further attempt after a crash or an interruption
 *   runs_recover.c takes over runs of dead instances
 *   runs_remote.c  mail of other instances on the same state
 */
#ifndef SUPERVISOR_EXEC_RUNS_PRIVATE_H
#define SUPERVISOR_EXEC_RUNS_PRIVATE_H

#include "supervisor/run/exec/runs_core.h"
#include "supervisor/run/warm/residents.h"

/* bytes of views: no run begins above */
#define RUNS_UNRECORDED_MAX (16u << 20)

/* Has this server the lease, by which runs begin and go on? */
static inline bool runs_has_lease(const struct runs *s)
{
	return s->ctx->cluster == NULL || s->ctx->cluster->has_lease(s);
}

/*
 * May a new run with the idempotency KEY (NULL: no key) start at once, where other
 * servers start runs, too?
 */
static inline bool runs_may_try_start(const struct runs *s, const char *key)
{
	return s->ctx->cluster == NULL || s->ctx->cluster->may_start(s, key);
}

/* ---- runs_create.c ---- */

/* TIMEOUT_MS and TTL_MS are the caller's wishes; 0: no wish. */
void runs_set_limits(const struct runs *s, struct run *r, int64_t timeout_ms,
		     int64_t ttl_ms);

/* Return how long Q's runs are kept; NULL: runs of an unknown requestor. */
int64_t runs_ttl(const struct runs *s, const struct requestor *q);

/* ---- runs_family.c ---- */

/* May PARENT call one more template? False: E says why not. */
bool runs_may_call(const struct runs *s, const struct run *parent,
		   struct tool_error *e);
/* May PARENT wait for the end of CHILD? False: E says why that would not end. */
bool runs_may_wait_for(const struct runs *s, const struct run *parent,
		       const struct run *child, struct tool_error *e);
/* PARENT lends its place to children, until runs_take_back(); twice is fine. */
void runs_lend(struct runs *s, struct run *parent);
void runs_take_back(struct runs *s, struct run *parent);
/* R is about to be freed: R's parent has its place again after the last child. */
void runs_leave_family(struct runs *s, struct run *r);
/* R's attempt is over: R's children leave R, and the next attempt calls anew. */
void runs_start_family_over(struct runs *s, struct run *r);

/* ---- runs_park.c ---- */

/* Let the stopped worker of R go on: R has a place again. */
void runs_go_on(struct runs *s, struct run *r);

/* ---- runs_queue.c ---- */

void runs_queue_init(struct runs *s);
void runs_queue_fini(struct runs *s);

/* Count R as waiting, outside of the order of turns. */
void runs_enqueue_aside(struct runs *s, struct run *r);
/* Is a slot free for one more worker, beside running and stopped workers? */
bool runs_has_slot(const struct runs *s);
/* Return the run to start now, or NULL. */
struct run *runs_next(struct runs *s);
/* May R, whose worker is stopped, go on now? Else runs_await_place(). */
bool runs_has_place(struct runs *s, const struct run *r);
void runs_await_place(struct runs *s, struct run *r);
/* Start the next run R, or let R's stopped worker go on. */
void runs_start(struct runs *s, struct run *r);
/* R got no worker: queue R first, or fail R by ERR. */
void runs_not_started(struct runs *s, struct run *r, int err);
/* R ended, or went to another server, before R had begun. */
void runs_begin_drop(struct runs *s, struct run *r);
/*
 * The server ends before R has begun, and R's row says running: write R as waiting, for
 * other servers or the next server.
 */
void runs_begin_undo(struct runs *s, struct run *r);
/* Start runs again after a worker has gone. */
void runs_resume(struct runs *s);

/* Are the files of the next run R here? False: R waits for the files aside. */
bool runs_files_here(struct runs *s, struct run *r);
/* Stop waiting for a look at R's package; R has no place then. */
void runs_look_drop(struct runs *s, struct run *r);

/* ---- runs_output.c ---- */

/* The callbacks of struct worker_env; RUNS is struct runs. */
void runs_worker_ended(void *runs, struct run *r, const struct exit_facts *e);
bool runs_worker_leaving(void *runs, struct run *r, const struct exit_facts *e);
void runs_worker_gone(void *runs, struct run *r, const struct exit_facts *e);
/* Free the tree of R's output. */
void runs_output_put(struct runs *s, struct run *r);
void runs_output_init(struct runs *s);
void runs_output_fini(struct runs *s);

/* ---- runs_finish.c ---- */

/* The worker of R, which has ended, is gone: see runs_finish(). */
void runs_finish_gone(struct runs *s, struct run *r,
		      const struct run_use *used);
/* Free R's result, which may be large. */
void runs_drop_result(struct runs *s, struct run *r);

/* ---- runs_retry.c ---- */

/* Try the queued run R again, whose last attempt ended by the error in R. */
void runs_try_again(struct runs *s, struct run *r);

/* ---- runs_remote.c ---- */

void runs_remote_init(struct runs *s);
void runs_remote_fini(struct runs *s);
/* Read mail about runs now and then. */
void runs_remote_poll(struct runs *s);

#endif
