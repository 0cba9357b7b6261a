/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - one request under way, from its arrival to its one answer.
 */
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

struct batch; /* answers that leave together */

/* What a request does while it waits, a table for each kind; NULL: nothing. */
struct request_ops {
	bool logs; /* its client is told what the run logs that it watches */
	/* Nobody wants the answer any more; its stream is still there. */
	void (*dropped)(struct request *c);
	/* That run has another state, or is durable, or can never be. */
	void (*run_changed)(struct request *c, struct run *r,
			    const struct run_notice *n);
	/* That run has ended and is recorded. */
	void (*run_ended)(struct request *c, struct run *r);
	/* The same, from the run's row: see request_defer(). */
	void (*run_stored)(struct request *c, const struct store_run *row);
	/* What that run's template asks is C's client to take along (input.h). */
	void (*asked)(struct request *c, struct run *r);
	/* The same of a run of another machine: REQUESTS (taken) are ROUND's. */
	void (*asked_abroad)(struct request *c, struct json_object *requests,
			     uint32_t round);
	/* It came back to such a run, and was not heard: RC is 0, for its round was
	   used, or -errno: its owner cannot be told. */
	void (*not_heard)(struct request *c, int rc);
	void (*free)(void *state);
};

struct request {
	struct session *session; /* NULL: the client is gone */
	struct context *ctx;	 /* borrowed, as who asks: they outlive it */
	struct requestor *requestor;
	void *stream;	    /* the transport's; see session.h */
	struct rpc_msg msg; /* owned */
	/* the session's, or its own, which are lent by msg */
	const struct client_terms *terms;
	struct client_terms own_terms;
	struct batch *batch;	/* NULL: the answer leaves alone… */
	struct reply_hint hint; /* …with this */
	bool dropped;		/* cancelled by the client: no answer… */
	bool cancels;		/* …and what it asked for is to end, too */
	unsigned refs;		/* see request_ref() */
	bool reads;		/* and request_ref_large() */
	bool backlogged;	/* it is in session.backlog */
	TAILQ_ENTRY(request) backlog;
	struct session_observer observer;
	UT_hash_handle hh; /* in session.requests, once it has begun… */
	bool begun;	   /* …which this says */

	bool as_task;		  /* tools/call: it makes a task… */
	int64_t task_ttl_ms;	  /* …for so long; 0: as the server likes */
	bool may_be_task;	  /* or becomes one when it takes long */
	struct progress progress; /* of c->run, while it is watched */

	/* what it keeps while it waits: a run, and how to show it */
	struct run *run; /* borrowed; its watch is on while this is set */
	struct run_watch watch;
	struct run_waiter waiter; /* while its client waits for a result */
	struct event *timer;
	char deferred_id[ID_SIZE]; /* of a run that is shown later */
	const struct request_ops *ops;
	void *state; /* of ops, which frees it */
};

/* Takes MSG's contents. */
struct request *request_new(struct session *s, void *stream,
			    struct rpc_msg *msg, struct batch *batch);

/* C waits as OPS say, and keeps STATE: taken, for ops->free(). */
void request_set_state(struct request *c, const struct request_ops *ops,
		       void *state);
/* C waits no more in that way; its state is the caller's. */
void *request_take_state(struct request *c);

/* The one under way whose id has this key (of rpc_id_key()), or NULL. */
struct request *request_find(const struct session *s, const char *key,
			     size_t len);

/* It is to be served: from now on its id is in use, and can be cancelled. */
void request_begin(struct request *c);

/* Answer it, once, unless it was dropped; then it is freed. Take RESULT, DATA. */
void request_result(struct request *c, struct json_object *result);
void request_error(struct request *c, int code, struct json_object *data,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Is C of who runs this machine or this server, here as a local user? */
bool request_is_operator(const struct request *c);

/* The store cannot be read, which RC is of: an error that says so. */
void request_unreadable(struct request *c, int rc);

/*
 * The notification METHOD by C's stream, before its answer: PARAMS (taken, or
 * NULL) get C's id as that of the subscription which C is.
 */
void request_notify(struct request *c, const char *method,
		    struct json_object *params);

/*
 * How long C's answer may be: max_answer_bytes, less what else is in its batch.
 * A longer one is an error instead, which says that.
 */
size_t request_max_bytes(const struct request *c);
/* Its whole message is there: it leaves, alone or with its batch. Taken. */
void request_send_message(struct request *c, struct buf *answer);

/* For the audit log: what C asks for was refused with CODE. */
void request_audit_refused(const struct request *c, const char *code);
/* The tool refuses, and that is recorded; R is emptied. */
void request_tool_error(struct request *c, struct tool_error *r);

/*
 * Somebody else will come back to C: it must not be freed until then. In
 * the callback, request_unref() says whether there is still somebody to
 * answer; when not, C is gone.
 */
void request_ref(struct request *c);
bool request_unref(struct request *c);
/* As request_ref(), for an answer that may be large. */
void request_ref_large(struct request *c);
/* C's answer may be large, and is made by who does not hold it. */
void request_mark_large(struct request *c);

/* The client wants no answer any more: notifications/cancelled, or gone. */
void request_drop(struct request *c, bool cancel_run);

/* C waits for R, which is not over, and shows its progress meanwhile. */
void request_watch(struct request *c, struct run *r);
void request_unwatch(struct request *c);
/*
 * Does C's client not read what was sent to it, or read much at once? Then a
 * large answer that can be had again is not made yet: it would lie about. AGAIN
 * (of C) is called when it is C's turn, to ask once more.
 */
bool request_backlogged(struct request *c, event_callback_fn again);
/*
 * R has ended and is recorded. When C's client does not read, answer later, from
 * R's row, by run_stored() of its ops; false: it is not.
 */
bool request_defer(struct request *c, const struct run *r);
/* Fires once after MS, unless it is answered before. */
void request_set_timer(struct request *c, int64_t ms, event_callback_fn fn);

#endif
