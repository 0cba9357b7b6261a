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
	TAILQ_HEAD(runs_abroad, run) abroad; /* another's now, the next first */
	size_t n_abroad;
	struct event *abroad_look; /* at them… */
	int64_t abroad_look_ms;	   /* …when it is due (mono) */
	struct worker_env workers;
	struct event *lease;	/* NULL: this machine is alone */
	char instance[ID_SIZE]; /* ours, when it is not the first */
	bool fenced;		/* it was over when we looked last */
	bool cut_short;		/* some ended with it, and it is not said how */
	bool
	    leaving; /* they are others', and no other may be made until all end */
	struct artifact_copies *copies; /* runs_files.c */
	bool recovering; /* the store looks for dead instances, or will again */
	struct run *by_id;
	struct sched sched;
	/* pending: there was no worker of that kind to be had */
	struct event *pause[RUNTIMES];
	size_t parked;	 /* runs that wait for answers, with nobody there… */
	size_t stopped;	 /* …and of these, those without a place in SCHED */
	size_t unlisted; /* without a section, who have made runs */
	size_t awaited;	 /* rows that somebody is to hear of, whatever comes */
	size_t unrecorded;   /* bytes of views on their way to the disk */
	struct {	     /* runs_output.c's: large results, as trees */
		size_t held; /* bytes of memory that they take */
		TAILQ_HEAD(, reading) waiting; /* for room, the oldest first */
		struct event *on_room;
	} trees;
};

/* ---- runs.c ---- */

/* A run that somebody is told of later, when it may be forgotten. */
struct run_ref {
	struct runs *runs;
	char id[ID_SIZE];
};

struct run_ref *runs_refer(struct runs *s, const struct run *r);
/* The run of REF, which is freed; or NULL. */
struct run *runs_referred(struct run_ref *ref);
struct run *runs_by_id(const struct runs *s, const char *id); /* NULL: none */

/* ---- runs_create.c ---- */

/* TIMEOUT_MS and TTL_MS are what is wished for; 0: nothing. */
void runs_set_limits(const struct runs *s, struct run *r, int64_t timeout_ms,
		     int64_t ttl_ms);

/* How long Q's runs are kept; NULL: of somebody who is not known here. */
int64_t runs_ttl(const struct runs *s, const struct requestor *q);

/* ---- runs_recover.c ---- */

/*
 * A run of ROW, which was another's and waits, is ours: queued, or resting before its
 * next attempt, or over when there is none. NULL: we do not serve it, or it has not
 * what it needs.
 */
struct run *runs_revive(struct runs *s, const struct store_run *row);
/* The same of R, which we have known since it was queued. */
void runs_take_back(struct runs *s, struct run *r, const struct store_run *row);

/* ---- runs_park.c ---- */

/* R, whose worker is stopped, has its place again. */
void runs_go_on(struct runs *s, struct run *r);

/* ---- runs_queue.c ---- */

void runs_queue_init(struct runs *s);
void runs_queue_fini(struct runs *s);

void runs_enqueue(struct runs *s, struct run *r);
/* R waits for something else than its turn, and counts as one that waits. */
void runs_enqueue_aside(struct runs *s, struct run *r);
/* Is there a slot for one more worker, beside those that run or are stopped? */
bool runs_has_slot(const struct runs *s);
/* Is there room for one more to run? */
bool runs_can_start(struct runs *s);
/* The one to start now, or NULL. */
struct run *runs_next(struct runs *s);
/* R, whose worker is stopped: could it go on now, or does it wait in line? */
bool runs_has_place(struct runs *s, const struct run *r);
void runs_await_place(struct runs *s, struct run *r);
/* R, which is next, gets its worker, or goes on. */
void runs_start(struct runs *s, struct run *r);
/* R has no worker after all: it is the next to get one, or it failed. */
void runs_not_started(struct runs *s, struct run *r, int err);
/* R, which has its place, gets a worker; FIRST: it had none before. */
void runs_launch(struct runs *s, struct run *r, bool first);
/* R is over, or others', before it has begun. */
void runs_begin_drop(struct runs *s, struct run *r);
/* This server ends before R, whose row says that it runs, has begun: it waits on,
   for others, or the next server. */
void runs_begin_undo(struct runs *s, struct run *r);
/* A worker is gone: there is room again. */
void runs_resume(struct runs *s);

/* ---- runs_files.c ---- */

void runs_files_init(struct runs *s);
void runs_files_fini(struct runs *s);
/* Are R's files here, which is next? Else it waits for them, and not in line. */
bool runs_files_here(struct runs *s, struct run *r);
void runs_files_over(struct runs *s, struct run *r); /* it has ended */
/* R begins: whoever deletes its files, they stay, and count, until that. */
void runs_files_hold(struct runs *s, struct run *r);

/* ---- runs_output.c ---- */

/* As struct worker_env has them; RUNS are all. */
void runs_worker_ended(void *runs, struct run *r, const struct exit_facts *e);
bool runs_worker_leaving(void *runs, struct run *r, const struct exit_facts *e);
void runs_worker_gone(void *runs, struct run *r, const struct exit_facts *e);
/* R's output is not awaited any more; it goes with the check. */
void runs_output_drop(struct runs *s, struct run *r);
/* R's output is needed as a tree no more. */
void runs_output_put(struct runs *s, struct run *r);
void runs_output_init(struct runs *s);
void runs_output_fini(struct runs *s);

/* ---- runs_look.c ---- */

/* R, a program's that has its place, is launched if its package is what was loaded. */
void runs_look(struct runs *s, struct run *r, bool first);
/* The look at R's package is not awaited any more, if it was: R has no place then. */
void runs_look_drop(struct runs *s, struct run *r);

/* ---- runs_finish.c ---- */

/*
 * EV ends R: steps, view, row; NOTICE_RECORDED follows. R has no worker, or one that
 * leaves: then that waits for runs_finish_gone(), when it is known what it USED.
 */
void runs_finish(struct runs *s, struct run *r, enum run_event ev);
void runs_finish_gone(struct runs *s, struct run *r,
		      const struct run_use *used);
void runs_forget(struct runs *s, struct run *r);
/* Nobody needs R's result any more, which may be large. */
void runs_drop_result(struct runs *s, struct run *r);

/* ---- runs_retry.c ---- */

/*
 * R has lost its worker, and its error says how: is it tried again? Then it is
 * queued once more, with its row, after a pause, or for the next server.
 */
bool runs_retry(struct runs *s, struct run *r);
/* The same of one that is queued already: its last attempt ended as its error says. */
void runs_try_again(struct runs *s, struct run *r);
/* R, which may rest before its next attempt, is going on, or over. */
void runs_retry_forget(struct runs *s, struct run *r);
/* Does it, until that is due here? */
bool runs_retry_rests(const struct run *r);

/* ---- runs_lease.c ---- */

/* May runs begin and go on here, as far as other machines go? */
bool runs_have_lease(const struct runs *s);
/*
 * R, whose worker is gone, may have ended with the lease: then it is not over before
 * it is known whether somebody had asked to cancel it, or what others made of it.
 */
bool runs_lease_keeps(struct runs *s, struct run *r);
/* All that is asked of us has been read, and done. */
void runs_lease_heard(struct runs *s);
void runs_lease_fini(struct runs *s);

/* ---- runs_remote.c ---- */

void runs_remote_init(struct runs *s);
void runs_remote_fini(struct runs *s);
/* ---- runs_claim.c ---- */

void runs_claim_init(struct runs *s);
void runs_claim_fini(struct runs *s);
/* The store has begun: who serves, and what waits there? */
void runs_claim_open(struct runs *s);
/* Does somebody wait in the queue of all whose turn it is before others'? */
bool runs_claim_waits(const struct runs *s);
/* R, which waits here, waits there instead: its row, written next, says so. */
void runs_claim_set_aside(struct runs *s, struct run *r);
/* R, which nobody starts here any more, waits there: its row, written next, says so. */
void runs_claim_leave(struct runs *s, struct run *r);
/* That row is there; or RC: it is not, and R waits here as before. */
void runs_claim_queued(struct runs *s, struct run *r, int rc);
/* We are another instance from now on. */
void runs_claim_rejoined(struct runs *s);
/* Some may have come to wait there, or may start again. */
void runs_claim_wake(struct runs *s);
/* Look at it now. */
void runs_claim_look(struct runs *s);
/* For how many of it is there room here? */
int runs_claim_room(struct runs *s);
/* There may be room: get those whose turn it is. */
void runs_claim_next(struct runs *s);

/* ---- runs_share.c ---- */

void runs_share_init(struct runs *s);
void runs_share_fini(struct runs *s);
/* The store has begun: are its limits shared? */
void runs_share_open(struct runs *s);
/* We have another name, and so no shares. */
void runs_share_rejoined(struct runs *s);
/* Does no other instance live that limits are shared with? */
bool runs_share_is_alone(const struct runs *s);
/* A run of Q's has found no place: more of them may be had. */
void runs_share_need(struct runs *s, struct requestor *q);

/* As many of R's requestor's runs wait as may, so that R never was. */
void runs_claim_full(struct runs *s, struct run *r);
/* R's idempotency key is another run's, so that R, which waited there, never was. */
void runs_claim_taken(struct runs *s, struct run *r);
/* Has a run of KEY (NULL: of none) to be in the queue first, where it is one run's? */
bool runs_claim_is_first(const struct runs *s, const char *key);

/* ---- runs_abroad.c ---- */

void runs_abroad_init(struct runs *s);
void runs_abroad_fini(struct runs *s);
/*
 * R has its row, and is in that queue, or another's, or was ours before we were taken
 * for dead: no news of it comes to who we are now, so look for them.
 */
void runs_abroad_follow(struct runs *s, struct run *r);
/*
 * News may be lost with what should have written them: those that have left the queue
 * unheard, or that another has and nobody tells of, are looked at.
 */
void runs_abroad_seek(struct runs *s);
/* Another has claimed R, which waited in the queue of all. */
void runs_abroad_claimed(struct runs *s, struct run *r);
/* R has another state in its row, perhaps its last: see. */
void runs_abroad_look(struct runs *s, struct run *r);
/* R, which is visited, is to be tried again here: who waits is told so. R is gone. */
void runs_abroad_end_visit(struct runs *s, struct run *r);
/* R is not another's any more. */
void runs_abroad_forget(struct runs *s, struct run *r);
/* R, in that queue or another's, is to end: whoever has it is asked. */
int runs_abroad_cancel(struct runs *s, struct run *r);

/* There are runs: see now and then what is asked of them. */
void runs_remote_poll(struct runs *s);

#endif
