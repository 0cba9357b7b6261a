/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - one run: its states, and the one function that changes them.
 */
#ifndef SUPERVISOR_RUN_RUN_H
#define SUPERVISOR_RUN_RUN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

#include "base/id.h"
#include "base/limits.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/run_steps.h"
#include "supervisor/requestor/sched.h"
#include "supervisor/store/store.h"
#include "supervisor/templates/template.h"

enum run_state {
	RUN_NONE, /* no state: marks a refused cell of the table */
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
	EV_ASK,	  /* the template waits for an answer of the client's */
	EV_ANSWER,
	EV_SUCCEED, /* a valid result, and every step succeeded */
	EV_PARTIAL, /* a valid result, and enough steps succeeded */
	EV_FAIL,    /* everything else that ends a run */
	EV_CANCEL,  /* somebody entitled asked */
	EV_RETRY,   /* its worker is gone, and it is to be tried again */
	RUN_EVENTS
};

/* Why a run failed. The texts are owned. */
struct run_error {
	char *code; /* EXECUTION_ERROR, …; NULL: no error */
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
	BY_SERVER
};

/* What this run is held to: min(template, requestor, server). */
struct run_limits {
#define LIMIT(id, field, ...) int64_t field;
#include "base/limits.def"
	int64_t wished_ms; /* of time, by the caller; 0: no wish */
	int64_t cancel_grace_ms;
	int64_t ttl_ms;
	enum limit_source by[LIMITS]; /* who said so */
};

/* What its worker used, and for a program all that it started. */
struct run_use {
	int64_t cpu_ms, cpu_user_ms, cpu_system_ms;
	int64_t max_rss_bytes; /* of its largest process; 0: not reaped yet */
	int64_t peak_bytes;    /* of all together, when a cgroup counted */
	int64_t read_bytes, written_bytes; /* from and to disks */
	int64_t messages;		   /* that it sent us */
};

/*
 * The task that a run is, when the call that made it asked for one, or the server
 * has decided that it is one.
 */
struct run_task {
	enum store_task form; /* STORE_TASK_NONE: it is none */
	/* It became one, and no row says so yet: a run that ends until then is
	   none. */
	bool pending;
	int64_t ttl_ms;		  /* of the task: the run has its own */
	int64_t expires_ms;	  /* wall */
	struct task_notify *feed; /* who tells its client, or NULL; borrowed */
	bool told;		  /* a CreateTaskResult of it has left */
	bool known;		  /* its client knows it, and may be asked */
	/* What a client that is asked by inputRequests alone has declared, as far
	   as it matters to who asks; owned. NULL: there is none such. */
	struct json_object *capabilities;
};

/* It may be tried again, as its manifest says; see exec/runs_retry.c. */
struct run_attempts {
	struct json_object
	    *ended;	    /* array of what is told of each; NULL: none */
	int64_t started_ms; /* wall: of the one that goes on; 0: none */
	bool here;	    /* the last that began, did so at this server */
	int64_t cpu_ms;	    /* of those that have ended */
	struct runs *runs;  /* it rests before the next… */
	struct event *due;  /* …until then; NULL: for another server */
};

struct worker;
struct runs;
struct event;
struct run_files;
struct lost_artifacts;
struct run;

/* What those who watch a run are told. */
enum run_notice_kind {
	NOTICE_STATE,	 /* r->state changed, not to a terminal one */
	NOTICE_PROGRESS, /* done, total, message, or a step */
	NOTICE_LOG,	 /* its template logged TEXT */
	NOTICE_DURABLE,	 /* a row of it is committed, or cannot be */
	NOTICE_TAKEN, /* its idempotency key is another run's: there is none of it */
	NOTICE_TASK,	 /* one that says it is a task is, or cannot be */
	NOTICE_ASKED,	 /* what it asks of clients is another, in that state */
	NOTICE_ENDED,	 /* r->state is terminal, which is not recorded yet */
	NOTICE_RECORDED, /* that is recorded, or cannot be now */
	NOTICE_RELEASED, /* it is about to be freed: every watch goes */
};

struct run_notice {
	enum run_notice_kind kind;
	/* DURABLE, TASK, RECORDED: why the store failed; or NULL */
	const char *unrecorded;
	unsigned level;	  /* LOG: of proto/mcp/mcp.h… */
	const char *text; /* …and a line of LEN bytes; lent, as all of it */
	size_t len;
};

/* Told of everything that happens to a run, until it is removed. */
struct run_watch {
	void (*on_notice)(struct run_watch *w, struct run *r,
			  const struct run_notice *n);
	struct run *run;
	TAILQ_ENTRY(run_watch) link; /* in run.watches */
};

struct request;
struct run_guests;
struct input_visit;

/* Who waits for a run's result: it may be asked what the template asks. */
struct run_waiter {
	struct request *request;
	struct run *run;	      /* NULL: it waits for none */
	TAILQ_ENTRY(run_waiter) link; /* in run.waiters */
};

/* Where it is. */
enum run_place {
	RUN_HERE,   /* with us */
	RUN_QUEUE,  /* it waits in the queue of all instances */
	RUN_ABROAD, /* another has claimed it: we know what that one shows */
};

enum run_waiter_event {
	WAITER_CAME,
	WAITER_LEFT,   /* its stream is still there */
	WAITER_UNREAD, /* nobody reads its stream any more */
};

struct run {
	char id[ID_SIZE];
	enum run_state state;	     /* run_apply() alone writes it */
	struct requestor *requestor; /* borrowed: outlives its runs */
	struct template *template;   /* a user of it */
	struct run_limits limits;
	struct run_task task;
	char trace[MCP_TRACE_SIZE]; /* traceparent of its request; "": none */
	char *session_id;	    /* that it was given, or keeps; or NULL */
	enum template_trust trust;  /* of who asked for it */
	char *inputs;		    /* owned JSON text; NULL once sent */
	size_t inputs_len;
	struct { /* of these, for another try; see run/kept_inputs.h */
		bool whole; /* its row keeps them as they are… */
		/* …or this, what is no secret; NULL once a row has it; owned */
		char *text;
		char *lack;    /* what is missing, and why; owned, or NULL */
		int64_t bytes; /* that were put into a row */
	} kept;
	char retried_from[ID_SIZE]; /* the run that it repeats, or "" */
	struct run_files *files;    /* owned: those among them; NULL: none */
	char *idem_key;
	char *idem_digest;

	int64_t created_ms, started_ms, updated_ms, finished_ms; /* wall */
	int64_t expires_ms; /* ENDED: when it may be forgotten */
	int64_t created_mono_ms, started_mono_ms, finished_mono_ms;
	int64_t polled_ms; /* for requestor_polled() */
	struct {	   /* see runs_park() */
		bool is;
		/* its worker, so that it has no place, and no time passes */
		bool stopped;
		int64_t since_ms;  /* monotonic */
		int64_t rested_ms; /* in all, before that */
	} parked;
	/* of the questions that its clients took along: how often, and how
	   often they came back; what they have says which it is of */
	uint32_t rounds, rounds_used;

	struct run_steps steps;
	/* run.progress() was called: it counts, not steps */
	bool told_progress;
	uint64_t done, total;
	char *message;

	struct run_artifact *artifacts; /* those that are durable */
	size_t n_artifacts;
	int64_t artifact_bytes; /* of these, and of one on its way */
	bool made_artifacts;	/* some may be in the store */
	/* what could not be kept; or NULL */
	struct lost_artifacts *lost_artifacts;
	struct buf *log;     /* bounded text, or NULL */
	bool log_full;	     /* and says so */
	int64_t hit[LIMITS]; /* limits that it met: limits_hit_details() */

	struct json_object *result; /* owned: the value, or the reply */
	bool is_reply;
	char *result_text; /* a large result's, which threads let go; or NULL */
	size_t result_len;
	struct run_error error;
	struct run_attempts attempts;
	struct run_use use; /* of the worker, once reaped */

	struct input *input;	     /* its questions; input.c's, or NULL */
	struct browser_run *browser; /* its browser calls; browser.c's */
	struct worker *worker;	     /* while one lives; it owns itself */
	/* while its output is read, and then… */
	struct output_parse_job *reading;
	void *reading_arg;		/* runs.c's, with that */
	struct validation_job *checked; /* …while it is checked, on a thread… */
	struct runs *checked_by;	/* …for these */
	/* it waited, and that it does no more is on its way to its row: until
	   that is there, it has its place, and no worker */
	bool beginning;
	bool taken_over; /* it waited in another instance */
	struct {	 /* where instances share a queue */
		enum run_place place;
		bool pinned;	/* it can be started here alone */
		bool asks_here; /* …since who waits here may be asked */
		bool cancel;	/* its end is asked for, wherever it is */
		bool looked;	/* its row is being read */
		bool fenced;	/* its worker was ended with our lease */
		/* no news of it comes to us, who were another */
		bool unheard;
		bool disowned; /* it had ended here: run_disown() */
		/* it is known here only for who waits here; the last came then */
		bool visited;
		int64_t visit_ms; /* mono */
		int64_t look_ms;  /* mono: when its row was last read */
		/* of what was shown of it, the news of which is told */
		int64_t seq;
		size_t log_len;
		int64_t vtime;	       /* its turn in the queue; 0: none yet */
		char home[ID_SIZE];    /* who put it there, another; or "" */
		TAILQ_ENTRY(run) link; /* in runs.abroad, while it is */
	} away;
	unsigned starts;    /* tries to get one that failed */
	bool durable;	    /* a row of it has been committed */
	bool unsure;	    /* one may have been, whose answer was lost */
	struct {	    /* ENDED: while its worker leaves */
		bool known; /* its row is there… */
		const char *failed; /* …or is not, and why; static */
		bool corrects;	    /* what that has is being put right */
	} recorded;
	int64_t row_bytes;	 /* of its row, as its requestor is charged */
	char *view;		 /* ENDED: its terminal view, JSON text */
	struct run_shown *shown; /* run_shown.c's, while others ask */
	TAILQ_HEAD(run_watches, run_watch) watches; /* told in this order */
	TAILQ_HEAD(run_waiters, run_waiter) waiters;
	/* input.c's, or NULL; WHO NULL: the session that made the task */
	void (*on_waiter)(struct run *r, enum run_waiter_event ev,
			  struct request *who);
	struct run_guests *guests; /* who waits at other instances, or NULL… */
	size_t n_guests;	   /* …of these, who may be asked or told */
	/* owned: the names of the last whose round was heard; or NULL */
	struct json_object *heard;
	/* of one that is another's: who waits here, and is its guest there */
	LIST_HEAD(run_visits, input_visit) visits;
	struct sched_item queued; /* while it waits for a worker */
	UT_hash_handle hh;	  /* in runs.by_id */
};

/*
 * Let EV happen to R. 0, or -EPROTO when R's state refuses it: nothing has
 * changed then, and a line is logged. Times are kept; nobody is told.
 */
int run_apply(struct run *r, enum run_event ev);
enum run_state run_next(enum run_state state, enum run_event ev);

/*
 * The end of R, which has no worker, is refused by the record, since the run is
 * another server's: it goes on for us until what its row says is known. Its result
 * is the caller's to drop.
 */
void run_disown(struct run *r);

static inline bool run_terminal(const struct run *r)
{
	return r->state >= RUN_SUCCEEDED;
}

/* Is R no task, and does nobody wait for it, or is to be back with answers? */
bool run_is_unwanted(const struct run *r);

/* How many attempts at R have ended, so that another was made. */
static inline size_t run_attempts(const struct run *r)
{
	return r->attempts.ended == NULL
		   ? 0
		   : json_object_array_length(r->attempts.ended);
}

/*
 * Rounds of one server's attempts at a run. Who takes the run over cannot know how many
 * there were: its own begin above, by the number of attempts, of which there are ten.
 */
#define RUN_ROUNDS_EACH (UINT32_C(1) << 28)

/* Is ROUND of a server before who gave NEWEST? What it was asked is over then. */
static inline bool run_round_is_old(int64_t round, uint32_t newest)
{
	return round / RUN_ROUNDS_EACH < newest / RUN_ROUNDS_EACH;
}

/* Is there another, should this one crash? */
static inline bool run_may_retry(const struct run *r)
{
	return run_attempts(r) + 1 < r->template->retry.attempts;
}

/* Is there another by any server, since R's row has all that it is given? */
static inline bool run_may_resume(const struct run *r)
{
	return (r->template->retry.on & RETRY_INTERRUPTED) != 0 &&
	       !r->template->secret;
}

/* Its artifacts are listed no more. */
void run_artifacts_drop(struct run *r);

/* Copies everything; DETAILS is taken. The first error stays. */
void run_set_error(struct run *r, const char *code, struct json_object *details,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

void run_clear_error(struct run *r);

/* It is no task after all. */
void run_clear_task(struct run *r);

/* What clients and the store call the state: "running" for CANCELLING. */
const char *run_status(const struct run *r);
enum store_status run_stored_status(const struct run *r);
const char *run_state_name(enum run_state state);
const char *run_event_name(enum run_event ev);

/* Copies REQUESTOR's and TEMPLATE's references, not their contents. */
struct run *run_new(struct requestor *requestor, struct template *template);
void run_free(struct run *r); /* no worker, no watch; NULL is fine */

/* What is left of its time; less than 0: nothing. */
int64_t run_left_ms(const struct run *r);

void run_watch_add(struct run *r, struct run_watch *w);
void run_watch_del(struct run_watch *w);
void run_tell(struct run *r, const struct run_notice *n);

void run_waiter_add(struct run *r, struct run_waiter *w);
void run_waiter_del(struct run_waiter *w); /* one that waits for none is fine */
void run_tell_waiter(struct run *r, enum run_waiter_event ev,
		     struct request *who);

#endif
