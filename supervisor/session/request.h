/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - a request under way, from its arrival to its answer. */
#ifndef SUPERVISOR_SESSION_REQUEST_H
#define SUPERVISOR_SESSION_REQUEST_H

#include <event2/event.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "proto/mcp/rpc.h"
#include "supervisor/session/progress.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/session/session.h"

struct batch; /* answers sent together */

/* The actions of a waiting request, a table for each kind; NULL: no action. */
struct request_ops {
	bool logs; /* the client gets the watched run's log lines */
	/* The answer is no longer wanted; the stream is still there. */
	void (*dropped)(struct request *req);
	/*
	 * The watched run has another state, is durable, or can never be
	 * durable.
	 */
	void (*run_changed)(struct request *req, struct run *r,
			    const struct run_notice *n);
	/* The watched run has ended and is recorded. */
	void (*run_ended)(struct request *req, struct run *r);
	/* The run has ended, and ROW is its row: see request_backlog_defer(). */
	void (*run_stored)(struct request *req, const struct store_run *row);
	/*
	 * The template of the watched run R asks REQ's client (input.h); REQ takes
	 * the question along.
	 */
	void (*asked)(struct request *req, struct run *r);
	/* A remote run asks REQ's client: REQUESTS (*taken*) are of ROUND. */
	void (*asked_abroad)(struct request *req, struct json_object *requests,
			     uint32_t round);
	/*
	 * The client's answers to a remote run were not taken: RC is 0 if the
	 * round was answered before, or -errno if the owner cannot be told.
	 */
	void (*not_heard)(struct request *req, int rc);
	void (*free)(void *state);
};

struct request {
	struct session *session; /* NULL: the client has gone */
	/* borrowed, as is REQUESTOR: both outlive the request */
	struct context *ctx;
	struct requestor *requestor;
	void *stream;	    /* of the transport; see session.h */
	struct rpc_msg msg; /* the request; owned */
	/* the session's terms, or OWN_TERMS, which MSG lends */
	const struct client_terms *terms;
	struct client_terms own_terms;
	struct batch *batch;	/* the batch with the answer, or NULL */
	struct reply_hint hint; /* sent with an answer which leaves alone */
	bool dropped;		/* cancelled by the client: no answer */
	bool cancels;		/* DROPPED, and the run is to end as well */
	unsigned refs;		/* references; see request_ref() */
	bool reads; /* counted as a large answer; see request_ref_large() */
	bool backlogged; /* the request is in session.backlog */
	TAILQ_ENTRY(request) backlog;
	struct session_observer observer;
	UT_hash_handle hh; /* in session.requests, once BEGUN */
	bool begun;
	bool told; /* of RUN's log and progress, not one of too many */

	bool as_task;		  /* tools/call: the call makes a task */
	int64_t task_ttl_ms;	  /* of the task; 0: the server's choice */
	bool may_be_task;	  /* the call becomes a task if it takes long */
	struct progress progress; /* of RUN, while it is watched */

	/* the run which REQ waits for */
	struct run *run; /* borrowed; NULL: WATCH is off */
	struct run_watch watch;
	struct run_waiter waiter; /* while the client waits for a result */
	struct event *timer;
	char deferred_id[ID_SIZE];   /* of a run to be answered later */
	LIST_ENTRY(request) reading; /* in sessions.reading, while it is read */
	const struct request_ops *ops;
	void *state; /* of OPS, which frees it */
};

/* Make a request. *Takes* the contents of MSG. */
struct request *request_new(struct session *s, void *stream,
			    struct rpc_msg *msg, struct batch *batch);

/*
 * Have REQ wait as OPS say, with STATE, which is *taken*: ops->free() frees it.
 */
void request_set_state(struct request *req, const struct request_ops *ops,
		       void *state);
/* End the wait of REQ and return its state, which is the caller's. */
void *request_take_state(struct request *req);

/* Return the request under way with the key KEY of rpc_id_key(), or NULL. */
struct request *request_find(const struct session *s, const char *key,
			     size_t len);

/* Begin REQ: its id is in use from now on, and REQ can be cancelled. */
void request_begin(struct request *req);

/* Answer REQ once, unless REQ was dropped, and free REQ. *Take* RESULT, DATA. */
void request_result(struct request *req, struct json_object *result);
void request_error(struct request *req, int code, struct json_object *data,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Answer REQ by the session's take_run(), and free REQ. *Lends* A. */
struct run_result_source;
void request_give_run(struct request *req, const struct run_result_source *a);

/* Does REQ come from a local user who runs this machine or paddockd? */
bool request_is_operator(const struct request *req);

/* Answer REQ: the store cannot be read, because of RC. */
void request_unreadable(struct request *req, int rc);

/*
 * Send the notification METHOD by REQ's stream, before REQ's answer. PARAMS
 * (*taken*, or NULL) get REQ's id as the id of the subscription.
 */
void request_notify(struct request *req, const char *method,
		    struct json_object *params);

/*
 * Return how long REQ's answer may be: max_answer_bytes, less the other answers
 * of the batch. A longer answer is replaced by an error.
 */
size_t request_max_bytes(const struct request *req);
/* Send ANSWER, a whole message, alone or with its batch. *Takes* ANSWER. */
void request_send_message(struct request *req, struct buf *answer);

/* Log to the audit log that REQ's request was refused with CODE. */
void request_audit_refused(const struct request *req, const char *code);
/*
 * Answer REQ with the error R of a tool, and log it to the audit log. R is
 * emptied.
 */
void request_tool_error(struct request *req, struct tool_error *r);

/*
 * Hold a reference to REQ for a later callback; REQ is not freed meanwhile. In the
 * callback, request_unref() returns whether REQ still wants an answer; if not, REQ
 * may be freed.
 */
void request_ref(struct request *req);
bool request_unref(struct request *req);
/* As request_ref(), for an answer which may be large. */
void request_ref_large(struct request *req);
/* Count REQ as awaiting a large answer, without a reference. */
void request_mark_large(struct request *req);

/*
 * Drop REQ, whose answer is no longer wanted: the client cancelled it, or is
 * gone.
 */
void request_drop(struct request *req, bool cancel_run);

/* Have REQ wait for R, which has not ended, and show its progress. */
void request_watch(struct request *req, struct run *r);
void request_unwatch(struct request *req);
/* Answer REQ that R has ended, and cannot be recorded for the reason UNRECORDED. */
void request_unrecorded(struct request *req, const struct run *r,
			const char *unrecorded);
/* Call FN once after MS, unless REQ is answered before. */
void request_set_timer(struct request *req, int64_t ms, event_callback_fn fn);
/* Stop REQ's timer until it is set again. */
void request_stop_timer(struct request *req);

#endif
