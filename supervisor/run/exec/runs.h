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

/* Functions of higher modules, which server.c sets. */
struct runs_ops {
	/* Can T run here, beside a worker? False: R says what is missing. */
	bool (*may_run)(const struct template *t, const struct config *config,
			struct tool_error *r);
	/* questions of templates; NULL: refused */
	worker_on_question on_ask;
	worker_on_drop on_drop;
};

/* CTX and OPS are lent for as long as the runs live. */
struct runs *runs_new(struct context *ctx, const struct runs_ops *ops);
void runs_free(struct runs *s); /* every run has ended; NULL is fine */

/* The request for a run, beside template and inputs. Strings are *lent*. */
struct run_wish {
	int64_t timeout_ms; /* 0: the template's */
	int64_t ttl_ms;	    /* 0: the server's default */
	const char *session_id;
	enum template_trust trust; /* of the calling session */
	const char *trace;	   /* the call's traceparent, or NULL */
	const char *retried_from;  /* the repeated run, or NULL */
	/* the run that calls, which has a worker; or NULL: a client calls */
	struct run *parent;
	bool allows_writes; /* without PARENT: options.allowWrites */
	/*
	 * The run's key in PARENT's journal; without PARENT the journal of the repeated
	 * run. NULL: the run has a journal of its own.
	 */
	const char *journal;
	const char *idem_key;
	const char *idem_digest; /* with idem_key */
	enum store_task
	    task_later;	      /* TASK, if another server may start the run */
	enum store_task task; /* not _NONE: the run is a task, too */
	int64_t task_ttl_ms;  /* 0: the server's default */
	struct json_object *task_capabilities; /* run_task's; lent */
	/* the inputs as text: *taken* when a run is made; or NULL */
	char *inputs_text;
	size_t inputs_len;
	/* files among the inputs, all found: *taken* when a run is made; or NULL */
	struct run_files *files;
	bool
	    promised; /* the client gets the id before the end: store at once */
	bool asks_here; /* questions go to the waiter of this call alone */
};

/*
 * Create a run of TEMPLATE for REQUESTOR, whose INPUTS (lent) have been
 * validated, and start or queue it. NULL, and R says why: QUEUE_FULL,
 * STORE_UNAVAILABLE. No watcher is told of the run before the function returns. With
 * wish.promised the run is cancelled when the row cannot be written, after a
 * NOTICE_DURABLE that says so.
 */
struct run *runs_create(struct runs *s, struct requestor *requestor,
			struct template *template, struct json_object *inputs,
			const struct run_wish *wish, struct tool_error *r);

/* Write a row of the open run R; a NOTICE_DURABLE tells the outcome. */
void runs_record(struct runs *s, struct run *r);

/*
 * Make the open run R a task, as WISH says. A NOTICE_TASK follows when the task is
 * recorded, or cannot be recorded: then R goes on and is no task.
 */
void runs_make_task(struct runs *s, struct run *r, const struct run_wish *wish);

/*
 * Find a run of this instance whose end is not recorded. NULL: ask the store. The
 * result is *lent*.
 */
struct run *runs_find(struct runs *s, const struct requestor *requestor,
		      const char *id);
/* Has the run ID ended, while the worker or the row of the end is awaited? */
bool runs_leaving(const struct runs *s, const char *id);
/* Find a run of any requestor by ID, if the run has a worker; or NULL. */
struct run *runs_working(struct runs *s, const char *id);
struct run *runs_find_idem(struct runs *s, const struct requestor *requestor,
			   const char *template_id, const char *key);

/* Count the open children of R, their children, and so on. */
size_t runs_descendants(const struct run *r);

/* Ask R to end. 0; -EALREADY: asked before, or it has ended. */
int runs_cancel(struct runs *s, struct run *r);

/*
 * Take over the runs of dead instances: running runs have failed or are tried again,
 * waiting runs are queued again, if this server serves the requestor and has the
 * template. A take-over that is under way is awaited first.
 */
void runs_recover(struct runs *s);

/*
 * The configuration or templates have changed: fail resting runs of removed requestors,
 * tell other instances what this server serves, and start waiting runs.
 */
void runs_reloaded(struct runs *s);

/* Read mail of other instances now and then. */
void runs_expect_mail(struct runs *s);
void runs_remote_read(struct runs *s); /* now, and now and then */

/* Start waiting runs, as far as limits and workers go. */
void runs_pump(struct runs *s);

/*
 * End running runs as interrupted, and with QUEUED waiting runs, too, unless taken
 * over from another instance; rows are written. The next instance takes over
 * runs that are left waiting.
 */
void runs_interrupt(struct runs *s, bool queued);

/* After the first request to the store: take wake-ups of other instances. */
void runs_remote_open(struct runs *s);
/* Take no more wake-ups, before the store closes their descriptor. */
void runs_remote_deaf(struct runs *s);

/* The server ends: waiters of queued runs are told by NOTICE_LEFT. */
void runs_leave(struct runs *s);
/*
 * The loop has ended: tell waiters of runs that other instances have or may take
 * over, and waiters of ends that are not recorded.
 */
void runs_end_waits(struct runs *s);
/* Fail the waiting run R, whose caller waits for nothing but the end. */
void runs_give_up(struct runs *s, struct run *r);
/* Do as runs_interrupt(), and end the workers now. */
void runs_end_now(struct runs *s, bool queued);
/* Tell the watches of ended runs that the store cannot record them now. */
void runs_tell_unrecorded(struct runs *s, const char *errmsg);

/*
 * May R wait parked for an answer while no client is connected? False: E says why not
 * (QUOTA_EXCEEDED). The worker of a parked run is stopped if possible: then no time of
 * the run passes, and the run gives up its place. To go on, the run waits for a place
 * before queued runs; when cancelled without a place, the run has no grace.
 */
bool runs_may_park(const struct runs *s, const struct run *r,
		   struct tool_error *e);
void runs_park(struct runs *s, struct run *r);
void runs_unpark(struct runs *s,
		 struct run *r); /* a run that is not parked is fine */
/* Fail the parked run R with INPUT_TIMEOUT: no client came in time. */
void runs_end_parked(struct runs *s, struct run *r);
/* Fail all parked runs with RUN_INTERRUPTED, since the server ends. */
void runs_drain_parked(struct runs *s);

size_t runs_running(const struct runs *s);
size_t runs_queued(const struct runs *s);
/* Count begun runs whose end is not recorded. */
size_t runs_unrecorded(const struct runs *s);

#endif
