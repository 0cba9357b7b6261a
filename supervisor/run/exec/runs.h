/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - all open runs of this instance: created, queued, started, ended,
 * recorded, told to clients, and then forgotten (the store keeps the record).
 */
#ifndef SUPERVISOR_EXEC_RUNS_H
#define SUPERVISOR_EXEC_RUNS_H

#include <event2/event.h>

#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/config/config.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/spawn/isolation.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/run.h"
#include "supervisor/store/store.h"
#include "supervisor/run/worker/worker.h"

struct context;
struct runs;

/* What is above runs and serves them. */
struct runs_ops {
	/* Is there what T needs beside a worker? Else R says what. */
	bool (*may_run)(const struct template *t, const struct config *config,
			struct tool_error *r);
	/* what templates ask for; NULL: is refused */
	worker_on_question on_ask;
	worker_on_drop on_drop;
	/* What clients say at other machines: may any be read, and is in RES. */
	bool (*wants_letters)(struct context *ctx);
	void (*on_letters)(struct context *ctx, const struct store_result *res);
	/* What R asks of clients, for those there: JSON, the caller's; NULL: nothing. */
	char *(*asked)(const struct run *r);
	/* ROW of another's run that is watched here was read; ROW NULL: its attempt
	   is over, and the next one is ours. NULL: nobody cares. */
	void (*shown)(struct run *r, const struct store_run *row);
};

/* CTX and OPS are lent for as long as the runs live. */
struct runs *runs_new(struct context *ctx, const struct runs_ops *ops);
void runs_free(struct runs *s); /* every run has ended; NULL is fine */

/* What is asked for, beside template and inputs. Strings are lent. */
struct run_wish {
	int64_t timeout_ms; /* 0: the template's */
	int64_t ttl_ms;	    /* 0: the server's default */
	const char *session_id;
	enum template_trust trust; /* of the session that asks */
	const char *trace;	   /* traceparent of who asks, or NULL */
	const char *retried_from;  /* the run that it repeats, or NULL */
	const char *idem_key;
	const char *idem_digest;    /* with idem_key */
	enum store_task task_later; /* the same, if others may start it */
	enum store_task task;	    /* not _NONE: it is a task as well… */
	int64_t task_ttl_ms; /* …for so long; 0: the server's default */
	struct json_object *task_capabilities; /* run_task's; lent */
	/* they, as text: taken, when a run is made; or NULL */
	char *inputs_text;
	size_t inputs_len;
	/* those among them, all found: taken, when a run is made; or NULL */
	struct run_files *files;
	bool promised;	/* its id is given away before it ends: store at once */
	bool asks_here; /* what it asks goes to who waits for this call alone */
};

/*
 * Create a run of TEMPLATE for REQUESTOR, whose INPUTS (lent) have been
 * validated, and start or queue it. NULL, and R says why: QUEUE_FULL,
 * STORE_UNAVAILABLE. Nobody is told of it before this returns. With
 * wish.promised it is cancelled when its row cannot be written, after a
 * NOTICE_DURABLE that says so.
 */
struct run *runs_create(struct runs *s, struct requestor *requestor,
			struct template *template, struct json_object *inputs,
			const struct run_wish *wish, struct tool_error *r);

/* R, which goes on, is to have a row; a NOTICE_DURABLE says whether it has. */
void runs_record(struct runs *s, struct run *r);

/*
 * R, which is no task and has not ended, is to be one, as WISH has it. A
 * NOTICE_TASK follows once that is recorded, or cannot be: then R goes on and is
 * none.
 */
void runs_make_task(struct runs *s, struct run *r, const struct run_wish *wish);

/*
 * One that has not been recorded as ended, nor is another instance's by now; NULL:
 * ask the store. Borrowed.
 */
struct run *runs_find(struct runs *s, const struct requestor *requestor,
		      const char *id);
/*
 * ROW's run, which another instance has, for who is to watch it here at once, as if it
 * had been made here; T (a reference is kept) is what it is of. NULL: it has come here
 * since, or has ended. Borrowed.
 */
struct run *runs_visit(struct runs *s, struct requestor *requestor,
		       struct template *t, const struct store_run *row);
/* Is it over, and its worker not gone, or its row not right yet? Then it is not told of. */
bool runs_leaving(const struct runs *s, const char *id);
/* Anybody's that has a worker, or NULL. */
struct run *runs_working(struct runs *s, const char *id);
struct run *runs_find_idem(struct runs *s, const struct requestor *requestor,
			   const char *template_id, const char *key);

/* Ask R to end. 0; -EALREADY: asked before, or it has ended. */
int runs_cancel(struct runs *s, struct run *r);

/*
 * Take over what instances that died had: what they ran has failed, what waited
 * is queued again, if we serve its requestor and have its template. Now, or when
 * one that is under way is over.
 */
void runs_recover(struct runs *s);

/* The configuration, or templates, have changed: what rests of whom that names no more is
   over, others are told what we serve now, and what waits may start. */
void runs_reloaded(struct runs *s);
/* What this instance serves has changed: others in the queue of all are told. */
void runs_serve(struct runs *s);
/* What waits in the queue of all is for others: nothing of it is kept back. */
void runs_hand_over(struct runs *s);

/* Somebody may write to us: see now and then. */
void runs_expect_mail(struct runs *s);
void runs_remote_read(struct runs *s); /* the same, and at once */

/* Start what waits, as far as limits and workers go. */
void runs_pump(struct runs *s);

/*
 * End what runs, as interrupted, and with QUEUED what waits too, unless it was
 * taken over; their rows are asked for. What is left waiting is the next
 * instance's to take over.
 */
void runs_interrupt(struct runs *s, bool queued);

/* The store was asked for something: see from now on whether runs may go on. */
void runs_lease_open(struct runs *s);

/* Other instances may nudge us, from the store's first request on… */
void runs_remote_open(struct runs *s);
/* …until the store is about to close what tells us of it. */
void runs_remote_deaf(struct runs *s);

/* The server ends: waiters of queued runs are told by NOTICE_LEFT. */
void runs_leave(struct runs *s);
/*
 * The loop has ended: tell waiters of runs that other instances have or may take
 * over, and waiters of ends that are not recorded.
 */
void runs_end_waits(struct runs *s);
/* R, which waits, and whose caller is there for its end alone, has failed. */
void runs_give_up(struct runs *s, struct run *r);
/* As runs_interrupt(), and what runs ends now. */
void runs_end_now(struct runs *s, bool queued);
/* Tell the watches of ended runs that the store cannot record them now. */
void runs_tell_unrecorded(struct runs *s, const char *errmsg);

/*
 * Of a run that awaits input, and whose client has gone to get it: may one more
 * of its requestor's wait so? False: E says why not (QUOTA_EXCEEDED). When its
 * worker can be stopped its time does not pass, and it has no place among the
 * running: when it is to go on it waits for one before what is queued, and when it
 * is cancelled and there is none it has no grace.
 */
bool runs_may_park(const struct runs *s, const struct run *r,
		   struct tool_error *e);
void runs_park(struct runs *s, struct run *r);
void runs_unpark(struct runs *s, struct run *r); /* one that is not is fine */
/* Nobody came in time: it fails with INPUT_TIMEOUT. */
void runs_end_parked(struct runs *s, struct run *r);
/* The server ends, so nobody can: all of them fail with RUN_INTERRUPTED. */
void runs_drain_parked(struct runs *s);

size_t runs_running(const struct runs *s);
size_t runs_queued(const struct runs *s);
/* Those that have begun, until their end is recorded. */
size_t runs_unrecorded(const struct runs *s);

#endif
