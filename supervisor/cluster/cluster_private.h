/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_private.h - state and functions for the files of supervisor/cluster/ alone.
 *
 *   cluster_table.c  the table of functions, by which the core calls the files below
 *   shared_queue.c   the queue of runs of all servers
 *   remote_runs.c    runs of other servers
 *   called_runs.c    runs that runs of other servers called
 *   lease.c          the lease without which no run goes on
 *   resident_homes.c the server where each resident lives
 *   limit_shares.c   shares of limits of all servers together
 */
#ifndef SUPERVISOR_CLUSTER_CLUSTER_PRIVATE_H
#define SUPERVISOR_CLUSTER_CLUSTER_PRIVATE_H

#include "supervisor/context.h"
#include "supervisor/run/exec/runs_core.h"
#include "supervisor/store/store.h"

struct answer_mail;  /* answer_mail.c */
struct shared_queue; /* shared_queue.c */
struct limit_shares; /* limit_shares.c */

/* The state of one server in its cluster. */
struct cluster_state {
	struct shared_queue *queue;
	struct limit_shares *shares;
	struct answer_mail *answers;
	struct event *show_residents;		  /* resident_homes.c */
	LIST_HEAD(, home_asked) homes_asked;	  /* the same */
	TAILQ_HEAD(endings, ending) endings;	  /* remote_residents.c */
	struct {				  /* remote_runs.c */
		TAILQ_HEAD(remote_runs, run) all; /* the next look first */
		size_t n;
		struct event *look; /* reads rows of ALL */
		int64_t look_ms;    /* when the look is due (mono) */
	} remote;
	struct {		 /* called_runs.c */
		bool some;	 /* runs here may have callers elsewhere */
		int64_t look_ms; /* mono: of the last look */
	} called;
	struct {			/* lease.c */
		struct event *look;	/* NULL: not open yet */
		char instance[ID_SIZE]; /* the id, when not the first id */
		bool over;		/* as of the last look */
		bool
		    cut_short; /* runs ended with the lease, and how is not known */
	} lease;
};

/* ---- shared_queue.c ---- */

void shared_queue_init(struct runs *s);
void shared_queue_open(struct runs *s);
void shared_queue_fini(struct runs *s);
bool shared_queue_may_start(const struct runs *s, const char *key);
bool shared_queue_has_others(const struct runs *s);
void shared_queue_set_aside(struct runs *s, struct run *r);
void shared_queue_leave(struct runs *s, struct run *r);
bool shared_queue_queued(struct runs *s, struct run *r, int rc);
/* Continue under a new id of the instance. */
void shared_queue_rejoined(struct runs *s);
void shared_queue_wake(struct runs *s);
/* Look at the shared queue now. */
void shared_queue_look(struct runs *s);
/* Return the number of runs of the shared queue that may start here. */
int shared_queue_room(struct runs *s);
void shared_queue_claim(struct runs *s);
/* Put R, whose turn came without a place here, back at R's place in the queue. */
void shared_queue_give_back(struct runs *s, struct run *r);
/* Do waiting runs wait for all servers? A server of one client ends with the client. */
bool shared_queue_is_used(const struct runs *s);
void shared_queue_serve(struct runs *s);
void shared_queue_hand_over(struct runs *s);

/* ---- remote_runs.c ---- */

void remote_runs_init(struct runs *s);
void remote_runs_fini(struct runs *s);
/*
 * Follow R by R's row: R is in the shared queue, or another server's, or was here
 * before this server was taken for dead. No news of R comes to the new id.
 */
void remote_runs_follow(struct runs *s, struct run *r);
void remote_runs_disowned(struct runs *s, struct run *r);
/*
 * Read the rows of runs whose news may be lost: runs that have left the shared queue
 * without news, and runs of servers that tell nothing.
 */
void remote_runs_seek(struct runs *s);
/* Note that another server has claimed R from the shared queue. */
void remote_runs_claimed(struct runs *s, struct run *r);
/* Read R's row, whose state has changed and may be the last. */
void remote_runs_look(struct runs *s, struct run *r);
/* Free R, a visited run: R's waiters are told that this server tries the run again. */
void remote_runs_end_visit(struct runs *s, struct run *r);
/*
 * Make R, known here since R was queued, a run of this server by ROW: queued,
 * resting before the next attempt, or ended when no attempt is left.
 */
void remote_runs_take_back(struct runs *s, struct run *r,
			   const struct store_run *row);
struct run *remote_runs_visit(struct runs *s, struct requestor *requestor,
			      struct template *t, const struct store_run *row);
int remote_runs_cancel(struct runs *s, struct run *r);
size_t remote_runs_unwatched(const struct runs *s);
/* A message says what became of R at another server. */
void remote_runs_message(struct runs *s, struct run *r,
			 const struct store_message *l);

/* ---- called_runs.c ---- */

/* R, which a run of another server called, has come here. */
void called_runs_come(struct runs *s, const struct run *r);
/* End runs here whose caller at another server is over; NOW, or when due. */
void called_runs_look(struct runs *s, bool now);

/* ---- lease.c ---- */

void lease_open(struct runs *s);
void lease_fini(struct runs *s);
bool lease_holds(const struct runs *s);
bool lease_keeps(struct runs *s, struct run *r);
void lease_messages_read(struct runs *s);

/* ---- resident_homes.c ---- */

void resident_homes_init(struct runs *s);
void resident_homes_fini(struct runs *s);
void resident_homes_end_asked(struct runs *s, const struct store_message *l);

/* ---- limit_shares.c ---- */

void limit_shares_init(struct runs *s);
void limit_shares_open(struct runs *s);
void limit_shares_fini(struct runs *s);
/* Drop all shares: the instance has a new id. */
void limit_shares_rejoined(struct runs *s);
/* Is this the only living instance? */
bool limit_shares_is_alone(const struct runs *s);
/* Ask for a larger share for Q, of whom a run has found no place. */
void limit_shares_need(struct runs *s, struct requestor *q);

#endif
