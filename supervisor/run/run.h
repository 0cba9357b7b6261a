/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one run: its states, and the function that changes them. */
#ifndef SUPERVISOR_RUN_RUN_H
#define SUPERVISOR_RUN_RUN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/limits.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/job.h"
#include "supervisor/run/remote_run.h"
#include "supervisor/run/run_family.h"
#include "supervisor/run/run_steps.h"
#include "supervisor/store/store.h"
#include "supervisor/packages/templates/template.h"

enum run_state {
	RUN_NONE, /* no state: a refused event's cell in the table */
	RUN_QUEUED,
	RUN_RUNNING,
	RUN_AWAITING_INPUT,
	RUN_CANCELLING,
	RUN_SUCCEEDED,
	RUN_PARTIAL_SUCCESS,
	RUN_FAILED,
	RUN_CANCELED,
	RUN_STATES
};

enum run_event {
	EV_START, /* a worker was asked for */
	EV_ASK,	  /* the template waits for a client's answer */
	EV_ANSWER,
	EV_SUCCEED, /* a valid result, and every step succeeded */
	EV_PARTIAL, /* a valid result, and enough steps succeeded */
	EV_FAIL,    /* any other end */
	EV_CANCEL,  /* an entitled client asked */
	EV_RETRY,   /* the worker is gone, and the run is tried again */
	RUN_EVENTS
};

/* Why a run failed. The texts are owned. */
struct run_error {
	char *code; /* such as EXECUTION_ERROR; NULL: no error */
	char *message;
	struct json_object *details; /* object or NULL */
};

struct run_artifact {
	char id[ID_SIZE];
	char *name;
	char *mime_type;
	int64_t size;
};

enum limit_source {
	BY_MANIFEST,
	BY_DEFAULT,
	BY_CALLER,
	BY_REQUESTOR,
	BY_SERVER,
	BY_TEMPLATE /* the operator, for the template */
};

/* The limits of a run: min(template, requestor, server). */
struct run_limits {
#define LIMIT(id, field, ...) int64_t field;
#include "base/limits.def"
	int64_t wished_ms; /* timeout by the caller; 0: no wish */
	int64_t cancel_grace_ms;
	int64_t ttl_ms;
	enum limit_source by[LIMITS]; /* each limit's origin */
};

/* The resources of a run's worker, and of all processes of a program. */
struct run_use {
	int64_t cpu_ms, cpu_user_ms, cpu_system_ms;
	int64_t max_rss_bytes; /* of the largest process; 0: not reaped yet */
	int64_t peak_bytes;    /* of all processes, if a cgroup counted */
	int64_t read_bytes, written_bytes; /* from and to disks */
	int64_t messages;		   /* sent by the worker */
};

/* The task of a run: its call asked for a task, or the server chose one. */
struct run_task {
	enum store_task form; /* STORE_TASK_NONE: no task */
	/* no row has the task yet; a run that ends before is no task */
	bool pending;
	int64_t ttl_ms;	    /* the task's; the run has its own */
	int64_t expires_ms; /* wall */
	/* tells the task's client, or NULL; borrowed */
	struct task_notify *feed;
	bool told;  /* a CreateTaskResult has left */
	bool known; /* the client knows the task, and may be asked */
	/*
	 * Capabilities, as far as questions need them, of a client that is
	 * asked by inputRequests alone; owned. NULL: no such client.
	 */
	struct json_object *capabilities;
};

/* The attempts at a run by its manifest; see exec/runs_retry.c. */
struct run_attempts {
	struct json_object
	    *ended;	    /* array of ended attempts' views; NULL: none */
	int64_t started_ms; /* wall: the present attempt's; 0: none */
	bool here;	    /* the last attempt began at this server */
	int64_t cpu_ms;	    /* of ended attempts */
	struct runs *runs;  /* the owner of DUE */
	/* the next attempt's timer; NULL: another server's */
	struct event *due;
};

/* Is a row of the run in the store? run_record_row() changes the answer. */
enum record_row {
	ROW_NONE,    /* no row is known: not written yet, or refused */
	ROW_UNSURE,  /* a row may be there: the store's answer was lost */
	ROW_DURABLE, /* a row has been committed */
	ROW_STATES
};

enum record_row_event {
	ROW_COMMITTED,
	ROW_REFUSED,
	ROW_UNANSWERED,
	ROW_EVENTS
};

/*
 * Is the end of the run in the row? run_record_end() changes the answer. A correction
 * of the row, after the worker is gone, goes on beside the first writing.
 */
enum record_end {
	END_NONE, /* the run has not ended, for this server */
	END_ASKED,
	END_ASKED_CORRECTING,
	END_RECORDED,
	END_RECORDED_CORRECTING,
	END_LOST, /* the row cannot be written now */
	END_LOST_CORRECTING,
	END_STATES
};

enum record_end_event {
	END_ASK,
	END_WRITTEN,
	END_FAILED,
	END_DISOWNED, /* the run is another server's, which records the end */
	END_CORRECT,
	END_CORRECTED, /* or the correction failed */
	END_EVENTS
};

/* The record of a run in the store, as far as known here. */
struct run_record {
	enum record_row row;
	enum record_end end;
	bool refused;	    /* the client was told that the run cannot be */
	bool revived;	    /* the run was made of another server's row */
	int64_t row_bytes;  /* of the row, charged to the requestor */
	const char *failed; /* why END is lost, static; NULL: END is not lost */
};

#define RESIDENT_NAME_MAX 64

/* A run's part of a notebook: see warm/residents.h. */
struct run_notebook {
	char *name;   /* owned; NULL: the run has no notebook */
	int64_t cell; /* counts the runs of the notebook; 0: not begun */
	char *lost;   /* owned: why an earlier state was lost; or NULL */
	bool ended;   /* the program told how the run left the state: */
	bool kept;    /* ENDED: the state is as after the run, else as before */
	char *why; /* owned: the reason, or a remark on a kept state; or NULL */
};

struct runs;
struct run_files;
struct lost_artifacts;
struct egress_record;
struct run;

/* Kinds of notice to a run's watchers. */
enum run_notice_kind {
	NOTICE_STATE,	 /* r->state changed, and is not terminal */
	NOTICE_PROGRESS, /* done, total, message, or a step */
	NOTICE_LOG,	 /* the template logged TEXT */
	NOTICE_DURABLE,	 /* a row is committed, or cannot be */
	/* another run has its idempotency key: the run is dropped */
	NOTICE_TAKEN,
	NOTICE_FULL,  /* the requestor's queue is full: the run is dropped */
	NOTICE_TASK,  /* a row of the task is committed, or cannot be */
	NOTICE_ASKED, /* the open questions changed, not the state */
	NOTICE_CHILD, /* a child that the run called has ended */
	/* the server stops before the start: left to another server */
	NOTICE_LEFT,
	NOTICE_ENDED,	 /* r->state is terminal, and not recorded yet */
	NOTICE_RECORDED, /* the end is recorded, or cannot be now */
	NOTICE_RELEASED, /* the run is about to be freed: remove all watches */
};

struct run_notice {
	enum run_notice_kind kind;
	/* DURABLE, TASK, RECORDED: why the store failed; or NULL */
	const char *unrecorded;
	unsigned level;	  /* LOG: a level of proto/mcp/mcp.h */
	const char *text; /* LOG: a line of LEN bytes; lent */
	size_t len;
};

/*
 * A watcher gets all notices of a run until it is removed, which may happen
 * within a notice to any watcher of the run.
 */
struct run_watch {
	void (*on_notice)(struct run_watch *w, struct run *r,
			  const struct run_notice *n);
	struct run *run;
	TAILQ_ENTRY(run_watch) link; /* in run.watches */
};

struct request;

/*
 * A waiter for a run's result; the template's questions may go to the waiter.
 */
struct run_waiter {
	struct request *request;
	struct run *run;	      /* NULL: the waiter waits for no run */
	TAILQ_ENTRY(run_waiter) link; /* in run.waiters */
};

enum run_waiter_event {
	WAITER_CAME,
	WAITER_LEFT,   /* the request is over, its stream is still there */
	WAITER_UNREAD, /* the waiter's stream has no reader now */
};

struct run {
	char id[ID_SIZE];
	enum run_state state; /* run_apply() changes it, or run_mirror() */
	struct requestor *requestor; /* borrowed: outlives the runs */
	struct template *template;   /* a counted reference */
	struct run_limits limits;
	struct run_task task;
	char trace[MCP_TRACE_SIZE]; /* the request's traceparent; "": none */
	char *session_id; /* the browser session, given or kept; or NULL */
	enum template_trust trust; /* the trust of the request's sender */
	char *inputs;		   /* owned JSON text; NULL once sent */
	size_t inputs_len;
	struct {	    /* INPUTS for another attempt; see run_row.h */
		bool whole; /* the row keeps all inputs */
		/* owned: inputs but secrets; NULL once a row has them */
		char *text;
		/* missing inputs, with the reason; owned, or NULL */
		char *lack;
		int64_t bytes; /* bytes in the row */
	} kept;
	char retried_from[ID_SIZE]; /* the repeated run, or "" */
	struct run_family family;
	struct run_notebook notebook;
	struct run_files *files; /* owned: files among the inputs; NULL: none */
	struct {
		char *key;    /* NULL: none */
		char *digest; /* of the inputs, hex */
	} idem;

	int64_t created_ms, started_ms, updated_ms, finished_ms; /* wall */
	int64_t expires_ms; /* ENDED: the run may be forgotten then */
	int64_t created_mono_ms, started_mono_ms, finished_mono_ms;
	/*
	 * Rounds in which clients took questions along: the last that was given
	 * out, and the last that came back. A client's state has its round's
	 * number.
	 */
	struct {
		uint32_t given, used;
	} rounds;

	struct run_steps steps;
	struct {
		/* run.progress() was called: its numbers count, not steps */
		bool told;
		uint64_t done, total;
		char *message;
	} progress;

	struct run_artifact *artifacts; /* durable artifacts */
	size_t n_artifacts;
	/* of ARTIFACTS, and of an artifact on its way */
	int64_t artifact_bytes;
	bool made_artifacts; /* the store may have artifacts */
	/* artifacts that were not kept; or NULL */
	struct lost_artifacts *lost_artifacts;
	struct json_object *lacked; /* permissions it was refused, or NULL */
	struct {
		struct buf *text; /* bounded, or NULL */
		bool full;	  /* TEXT is full and says so; next: END */
		struct buf end;	  /* the last bytes: run_log.c */
		uint64_t missed;  /* entries that did not fit */
	} log;
	int64_t hit[LIMITS]; /* limits that the run met: limits_hit_details() */

	struct {
		struct json_object *value; /* owned; or the reply */
		bool is_reply;
		/* a large result's text, freed on threads; or NULL */
		char *text;
		size_t len;
	} output;
	struct run_error error;
	struct run_attempts attempts;
	struct run_use use;	       /* of the worker, once reaped */
	struct egress_record *network; /* owned; NULL: no report came */

	struct job job;		  /* the execution at this instance */
	struct run_record record; /* is the run in the store? */
	struct remote_run remote; /* other instances and the run */
	char *view;		  /* ENDED: the terminal view, JSON text */
	/* run_shown.c's, while clients elsewhere look */
	struct run_shown *shown;
	/* told in the list's order */
	TAILQ_HEAD(run_watches, run_watch) watches;
	struct run_telling *telling; /* run.c's, while watchers are told */
	unsigned n_told; /* requests that are told of the log and progress */
	TAILQ_HEAD(run_waiters, run_waiter) waiters;
	/* input.c's, or NULL; WHO NULL: the session of the task's maker */
	void (*on_waiter)(struct run *r, enum run_waiter_event ev,
			  struct request *who);
	UT_hash_handle hh; /* in runs.by_id */
};

/*
 * Let EV happen to R, a run of this server, and keep the time. 0, or -EPROTO when
 * R's state refuses EV: nothing has changed then, and a line is logged. No watcher
 * is told.
 */
int run_apply(struct run *r, enum run_event ev);
enum run_state run_next(enum run_state state, enum run_event ev);

/*
 * Make STATE, which the row of R says, the state of R, a run of another server or of the
 * shared queue. The other server has applied its events, so any state may follow any; no
 * start is logged.
 */
void run_mirror(struct run *r, enum run_state state);

static inline bool run_terminal(const struct run *r)
{
	return r->state >= RUN_SUCCEEDED;
}

void run_record_row(struct run *r, enum record_row_event ev);
/* False: the state of R's end refuses EV, and nothing has changed. */
bool run_record_end(struct run *r, enum record_end_event ev);

/* Has a row of R been committed? */
static inline bool run_is_durable(const struct run *r)
{
	return r->record.row == ROW_DURABLE;
}

/* Is R's row being corrected? */
static inline bool run_is_corrected(const struct run *r)
{
	return r->record.end == END_ASKED_CORRECTING ||
	       r->record.end == END_RECORDED_CORRECTING ||
	       r->record.end == END_LOST_CORRECTING;
}

/* Is R's end recorded for good, or lost? */
static inline bool run_end_is_known(const struct run *r)
{
	return r->record.end == END_RECORDED || r->record.end == END_LOST;
}

/* Is R a run of this server, and not of another server or of the shared queue? */
static inline bool run_is_here(const struct run *r)
{
	return r->remote.place == RUN_HERE;
}

/*
 * Is R another server's: known by its row, in the queue of all, or ended here with the
 * lease, after which another server takes R over?
 */
static inline bool run_is_of_others(const struct run *r)
{
	return !run_is_here(r) || r->remote.fenced;
}

/*
 * Is R no task, without a waiter, and without a client that has its handle or
 * may come back with answers?
 */
bool run_is_unwanted(const struct run *r);

/* Returns the number of R's ended attempts that were followed by another. */
static inline size_t run_attempts(const struct run *r)
{
	return r->attempts.ended == NULL
		   ? 0
		   : json_object_array_length(r->attempts.ended);
}

/*
 * The rounds of a server's attempts at a run. A server that takes the run over
 * does not know the earlier rounds: its own begin above them, by the number of
 * attempts, of which there are at most ten.
 */
#define RUN_ROUNDS_EACH (UINT32_C(1) << 28)

/*
 * Is ROUND of a server before the server of NEWEST? The questions of ROUND are
 * over then.
 */
static inline bool run_round_is_old(int64_t round, uint32_t newest)
{
	return round / RUN_ROUNDS_EACH < newest / RUN_ROUNDS_EACH;
}

/* May R have another attempt, should the present attempt crash? */
static inline bool run_may_retry(const struct run *r)
{
	return run_attempts(r) + 1 < r->template->retry.attempts;
}

/* May any server make another attempt at R, since R's row has all inputs? */
static inline bool run_may_resume(const struct run *r)
{
	return (r->template->retry.on & RETRY_INTERRUPTED) != 0 &&
	       !r->template->secret;
}

/* Empty R's list of artifacts. */
void run_artifacts_drop(struct run *r);

/* Set R's error: the first error stays. Texts are copied; DETAILS is taken. */
void run_set_error(struct run *r, const char *code, struct json_object *details,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

void run_clear_error(struct run *r);

/* Make R no task. */
void run_clear_task(struct run *r);

/*
 * Returns the state's name for clients and the store: "running" for CANCELLING.
 */
const char *run_status(const struct run *r);
enum store_status run_stored_status(const struct run *r);
const char *run_state_name(enum run_state state);
const char *run_event_name(enum run_event ev);

/*
 * Returns a queued run, the caller's: REQUESTOR is borrowed, TEMPLATE gets
 * another reference.
 */
struct run *run_new(struct requestor *requestor, struct template *template);
void run_free(struct run *r); /* no worker, no watch; NULL is fine */

/* Returns the rest of R's time; less than 0: the time is over. */
int64_t run_left_ms(const struct run *r);

void run_watch_add(struct run *r, struct run_watch *w);
void run_watch_del(struct run_watch *w);
void run_tell(struct run *r, const struct run_notice *n);

void run_waiter_add(struct run *r, struct run_waiter *w);
void run_waiter_del(struct run_waiter *w); /* a waiter without a run is fine */
void run_tell_waiter(struct run *r, enum run_waiter_event ev,
		     struct request *who);

#endif
