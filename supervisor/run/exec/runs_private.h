/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_private.h - types and functions that the files of runs share; no other
 * file includes the header.
 *
 *   runs.c         the table of all open runs: look-up, cancelling
 *   runs_create.c  makes a run
 *   runs_queue.c   starts queued runs
 *   runs_files.c   runs that wait for artifacts
 *   runs_look.c    checks a program's package before the start
 *   runs_park.c    runs that wait for an answer without a client
 *   runs_output.c  the output of a worker that has ended
 *   runs_finish.c  the end of a run: view, row, news
 *   runs_retry.c   a further attempt after a crash or an interruption
 *   runs_share.c   shares of limits that hold for all instances of a database
 *   runs_recover.c takes over runs of dead instances
 *   runs_lease.c   the lease without which no run goes on
 *   runs_remote.c  mail of other instances on the same state
 *   runs_claim.c   the queue of all instances
 *   runs_abroad.c  runs that another instance has claimed
 */
#ifndef SUPERVISOR_EXEC_RUNS_PRIVATE_H
#define SUPERVISOR_EXEC_RUNS_PRIVATE_H

#include "supervisor/context.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/run/requestor/sched.h"

/* bytes of views: no run begins above */
#define RUNS_UNRECORDED_MAX (16u << 20)

struct artifact_copies;
struct runs_remote; /* runs_remote.c */
struct runs_shares; /* runs_share.c */
struct runs_claims; /* runs_claim.c */

struct runs {
	struct context *ctx;
	const struct runs_ops *ops;
	struct runs_remote *mail;
	struct runs_shares *shares;
	struct runs_claims *claims;
	TAILQ_HEAD(runs_abroad, run)
	abroad; /* runs of others, the next look first */
	size_t n_abroad;
	struct event *abroad_look; /* reads rows of ABROAD */
	int64_t abroad_look_ms;	   /* when the look is due (mono) */
	struct worker_env workers;
	struct event *lease;	/* NULL: this machine is alone */
	char instance[ID_SIZE]; /* the id, when not the first id */
	bool fenced;		/* the lease was over at the last look */
	bool cut_short; /* runs ended with the lease, and how is not known */
	bool leaving; /* taken for dead: no run is made until all have ended */
	struct artifact_copies *copies; /* runs_files.c */
	bool recovering; /* a take-over is under way, or due again */
	struct run *by_id;
	struct sched sched;
	/* pending: no worker of that runtime could be started */
	struct event *pause[RUNTIMES];
	size_t parked;	     /* runs that wait for answers without a client */
	size_t stopped;	     /* parked runs without a place in SCHED */
	size_t unlisted;     /* requestors without a section that made runs */
	size_t awaited;	     /* rows whose commit a caller waits for */
	size_t unrecorded;   /* bytes of views on their way to the disk */
	struct {	     /* runs_output.c's: large results, as trees */
		size_t held; /* bytes of memory of the trees */
		TAILQ_HEAD(, reading) waiting; /* for room, the oldest first */
		struct event *on_room;
	} trees;
};

/* ---- runs.c ---- */

/* A reference to a run that may be freed before the reference is used. */
struct run_ref {
	struct runs *runs;
	char id[ID_SIZE];
};

struct run_ref *runs_refer(struct runs *s, const struct run *r);
/* Return the run of REF, or NULL, and free REF. */
struct run *runs_referred(struct run_ref *ref);
struct run *runs_by_id(const struct runs *s, const char *id); /* NULL: none */

/* ---- runs_create.c ---- */

/* TIMEOUT_MS and TTL_MS are the caller's wishes; 0: no wish. */
void runs_set_limits(const struct runs *s, struct run *r, int64_t timeout_ms,
		     int64_t ttl_ms);

/* Return how long Q's runs are kept; NULL: runs of an unknown requestor. */
int64_t runs_ttl(const struct runs *s, const struct requestor *q);

/* ---- runs_recover.c ---- */

/*
 * Make the waiting run of ROW, which was another instance's, a run of this instance:
 * queued, resting before the next attempt, or ended when no attempt is left. NULL:
 * this server does not serve the run, or the row lacks inputs.
 */
struct run *runs_revive(struct runs *s, const struct store_run *row);
/* Do the same with R, which this server has known since R was queued. */
void runs_take_back(struct runs *s, struct run *r, const struct store_run *row);

/* ---- runs_park.c ---- */

/* Let the stopped worker of R go on: R has a place again. */
void runs_go_on(struct runs *s, struct run *r);

/* ---- runs_queue.c ---- */

void runs_queue_init(struct runs *s);
void runs_queue_fini(struct runs *s);

void runs_enqueue(struct runs *s, struct run *r);
/* Count R as waiting, outside of the order of turns. */
void runs_enqueue_aside(struct runs *s, struct run *r);
/* Is a slot free for one more worker, beside running and stopped workers? */
bool runs_has_slot(const struct runs *s);
/* May one more run start? */
bool runs_can_start(struct runs *s);
/* Return the run to start now, or NULL. */
struct run *runs_next(struct runs *s);
/* May R, whose worker is stopped, go on now? Else runs_await_place(). */
bool runs_has_place(struct runs *s, const struct run *r);
void runs_await_place(struct runs *s, struct run *r);
/* Start the next run R, or let R's stopped worker go on. */
void runs_start(struct runs *s, struct run *r);
/* R got no worker: queue R first, or fail R by ERR. */
void runs_not_started(struct runs *s, struct run *r, int err);
/* Give R, which has a place, a worker; FIRST: R had no worker before. */
void runs_launch(struct runs *s, struct run *r, bool first);
/* R ended, or went to another server, before R had begun. */
void runs_begin_drop(struct runs *s, struct run *r);
/*
 * The server ends before R has begun, and R's row says running: write R as waiting, for
 * other servers or the next server.
 */
void runs_begin_undo(struct runs *s, struct run *r);
/* Start runs again after a worker has gone. */
void runs_resume(struct runs *s);

/* ---- runs_files.c ---- */

void runs_files_init(struct runs *s);
void runs_files_fini(struct runs *s);
/* Are the files of the next run R here? False: R waits for the files aside. */
bool runs_files_here(struct runs *s, struct run *r);
void runs_files_over(struct runs *s, struct run *r); /* R has ended */
/* Keep the files of R, and their account, until R ends, even when deleted. */
void runs_files_hold(struct runs *s, struct run *r);

/* ---- runs_output.c ---- */

/* The callbacks of struct worker_env; RUNS is struct runs. */
void runs_worker_ended(void *runs, struct run *r, const struct exit_facts *e);
bool runs_worker_leaving(void *runs, struct run *r, const struct exit_facts *e);
void runs_worker_gone(void *runs, struct run *r, const struct exit_facts *e);
/* Stop waiting for R's output, and cancel the check. */
void runs_output_drop(struct runs *s, struct run *r);
/* Free the tree of R's output. */
void runs_output_put(struct runs *s, struct run *r);
void runs_output_init(struct runs *s);
void runs_output_fini(struct runs *s);

/* ---- runs_look.c ---- */

/* Launch R, a run of a program with a place, if the package is as it was loaded. */
void runs_look(struct runs *s, struct run *r, bool first);
/* Stop waiting for a look at R's package; R has no place then. */
void runs_look_drop(struct runs *s, struct run *r);

/* ---- runs_finish.c ---- */

/*
 * End R by EV: steps, view, row; NOTICE_RECORDED follows. If R has a worker, which is
 * leaving, the row waits for runs_finish_gone() with the worker's USED resources.
 */
void runs_finish(struct runs *s, struct run *r, enum run_event ev);
void runs_finish_gone(struct runs *s, struct run *r,
		      const struct run_use *used);
void runs_forget(struct runs *s, struct run *r);
/* Free R's result, which may be large. */
void runs_drop_result(struct runs *s, struct run *r);

/* ---- runs_retry.c ---- */

/*
 * Is R, which has lost its worker by the error in R, tried again? Then R is queued once
 * more, with a row, after a pause, or for the next server.
 */
bool runs_retry(struct runs *s, struct run *r);
/* Try the queued run R again, whose last attempt ended by the error in R. */
void runs_try_again(struct runs *s, struct run *r);
/* Stop a rest of R before the next attempt, if R rests. */
void runs_retry_forget(struct runs *s, struct run *r);
/* Does R rest until the next attempt here? */
bool runs_retry_rests(const struct run *r);

/* ---- runs_lease.c ---- */

/* Does this server have the lease, by which runs begin and go on? */
bool runs_have_lease(const struct runs *s);
/*
 * Did R, whose worker is gone, end with the lease? Then R stays open until requests to
 * cancel R, or what other servers did with R, are known.
 */
bool runs_lease_keeps(struct runs *s, struct run *r);
/* All mail of other instances has been read and followed. */
void runs_lease_heard(struct runs *s);
void runs_lease_fini(struct runs *s);

/* ---- runs_remote.c ---- */

void runs_remote_init(struct runs *s);
void runs_remote_fini(struct runs *s);
/* ---- runs_claim.c ---- */

void runs_claim_init(struct runs *s);
void runs_claim_fini(struct runs *s);
/* The store has begun: tell what this server serves, and look at the common queue. */
void runs_claim_open(struct runs *s);
/* Does a run in the common queue come before the runs that wait here? */
bool runs_claim_waits(const struct runs *s);
/* Put R, which waits here, into the common queue by R's next row. */
void runs_claim_set_aside(struct runs *s, struct run *r);
/* Leave R to other servers: R's next row puts R into the common queue. */
void runs_claim_leave(struct runs *s, struct run *r);
/* The row was written; or RC: the row was not, and R waits here as before. */
void runs_claim_queued(struct runs *s, struct run *r, int rc);
/* Continue under a new id of the instance. */
void runs_claim_rejoined(struct runs *s);
/* Look soon: runs may have come to the common queue, or may start again. */
void runs_claim_wake(struct runs *s);
/* Look at the common queue now. */
void runs_claim_look(struct runs *s);
/* Return the number of runs of the common queue that may start here. */
int runs_claim_room(struct runs *s);
/* Claim the next runs of the common queue, as far as there is room. */
void runs_claim_next(struct runs *s);

/* ---- runs_share.c ---- */

void runs_share_init(struct runs *s);
void runs_share_fini(struct runs *s);
/* The store has begun: share limits if other instances use the store. */
void runs_share_open(struct runs *s);
/* Drop all shares: the instance has a new id. */
void runs_share_rejoined(struct runs *s);
/* Is this the only living instance? */
bool runs_share_is_alone(const struct runs *s);
/* Ask for a larger share for Q, of whom a run has found no place. */
void runs_share_need(struct runs *s, struct requestor *q);

/* Drop R: as many runs of R's requestor wait in the common queue as may. */
void runs_claim_full(struct runs *s, struct run *r);
/* Drop R, which waited in the common queue: another run has R's idempotency key. */
void runs_claim_taken(struct runs *s, struct run *r);
/* Has a run with KEY (NULL: no key) to be in the common queue before R's start? */
bool runs_claim_is_first(const struct runs *s, const char *key);

/* ---- runs_abroad.c ---- */

void runs_abroad_init(struct runs *s);
void runs_abroad_fini(struct runs *s);
/*
 * Follow R by R's row: R is in the common queue, or another server's, or was here
 * before this server was taken for dead. No news of R comes to the new id.
 */
void runs_abroad_follow(struct runs *s, struct run *r);
/*
 * Read the rows of runs whose news may be lost: runs that have left the common queue
 * without news, and runs of servers that tell nothing.
 */
void runs_abroad_seek(struct runs *s);
/* Note that another server has claimed R from the common queue. */
void runs_abroad_claimed(struct runs *s, struct run *r);
/* Read R's row, whose state has changed and may be the last. */
void runs_abroad_look(struct runs *s, struct run *r);
/* Tell the waiters of the visited run R that R is tried again here; R is freed. */
void runs_abroad_end_visit(struct runs *s, struct run *r);
/* Stop following R, which is this server's again. */
void runs_abroad_forget(struct runs *s, struct run *r);
/* Ask the server that has R, or the common queue, to cancel R. */
int runs_abroad_cancel(struct runs *s, struct run *r);

/* Read mail about runs now and then. */
void runs_remote_poll(struct runs *s);

#endif
