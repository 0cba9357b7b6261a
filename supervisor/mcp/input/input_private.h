/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_private.h - types and functions for the files of supervisor/mcp/input
 * alone.
 *
 *   input.c        all questions of a run: the client to ask, waiters, the end
 *   input_reply.c  a client's answer, made the text that the worker gets
 *   input_park.c   questions that a client takes along and comes back with
 *   input_relay.c  questions of called runs at other servers
 */
#ifndef SUPERVISOR_INPUT_INPUT_PRIVATE_H
#define SUPERVISOR_INPUT_INPUT_PRIVATE_H

#include <event2/event.h>
#include <sys/queue.h>

#include "supervisor/session/client_task.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/mcp/input/input_request.h"

struct input_reply;

/* A question without an answer, in input.pending. */
struct pending_input {
	struct input *input;
	/* the run that asks: INPUT's run, or a run that INPUT's run called */
	struct run *asker;
	struct run_watch watch; /* on ASKER, unless ASKER is INPUT's run */
	uint32_t seq;		/* the number among ASKER's questions */
	char *there; /* owned: the key at ASKER's server; NULL: ASKER is here */
	uint32_t no; /* the number in INPUT */
	/*
	 * unique among INPUT's questions, for a client that takes questions
	 * along
	 */
	char key[QUESTION_KEY_MAX + 24];
	unsigned misfits; /* answers that did not fit the schema */
	struct input_request q;
	int64_t asked_mono_ms, expires_mono_ms;
	struct event *expiry;
	struct client_task *asked; /* NULL: the question is held */
	/* the request whose stream has the question; NULL: of no request */
	struct request *request;
	struct session *session; /* the client that is asked */
	bool was_asked;
	size_t bytes; /* of the question's params as text */
	/* a thread reads the answer, and owns Q meanwhile; or NULL */
	struct input_reply_job *job;
	LIST_ENTRY(pending_input) link;
};

/* All open questions of a run that a client called, and of called runs; run.input. */
struct input {
	struct context *ctx;
	struct run *run; /* borrowed */
	uint32_t last;	 /* the number of the last question */
	size_t n_called; /* questions of called runs in PENDING */
	struct run_watch watch;
	LIST_HEAD(pending_inputs, pending_input)
	pending;	     /* the run's own are MSG_ASKS_MAX at most */
	size_t bytes;	     /* of all pending questions */
	struct event *grace; /* until the client has to know its task */
	/* collects questions for a client that takes them along */
	struct event *gather;
	/* monotonic: the first collected question; 0: none */
	int64_t gather_ms;
	struct event
	    /* pending: a client has the questions, and may come back */
	    *parked;
	struct json_object *keys; /* the keys of earlier questions */
};

/*
 * Ask P of a waiter, hold P while a waiter may still come, or end P with a
 * refusal. Do nothing when the worker wants no answer to P any more.
 */
void input_route(struct pending_input *p);
/* Tell the client that is asked P to forget P, with REASON; P is held then. */
void input_withdraw(struct pending_input *p, const char *reason);

/*
 * Make ASK, of ASKER, a question that is held at the outermost run. THERE (copied): the
 * key at ASKER's server; NULL: ASKER is here.
 */
struct pending_input *input_hold(struct context *ctx, struct run *asker,
				 const struct worker_question *ask,
				 const char *there);
/* Ask the new question P, which ASK says, within LEFT_MS; or refuse P. */
void input_begin(struct pending_input *p, const struct worker_question *ask,
		 int64_t left_ms);

/* ---- input_relay.c ---- */

/* Give REPLY (lent) to the question THERE of ASKER, a run of another server. */
void input_relay_answer(struct context *ctx, struct run *asker,
			const char *there, enum worker_question_kind kind,
			const struct input_reply *reply);

/* ---- input_park.c ---- */

/* Give a new or repeated question P its key. */
void input_name(struct pending_input *p);
/* Tell a waiter of IN's questions as soon as no more of them come. */
void input_gather(struct input *in);

/* ---- */

/*
 * End P, which is asked of no client now, with the error ERRMSG, which is
 * emptied.
 */
void input_reject(struct pending_input *p, struct tool_error *errmsg);
/* Likewise, with the error INPUT_FAILED and the message WHAT. */
void input_fail(struct pending_input *p, const char *what);
/*
 * End and free P, which is asked of no client now, and tell the worker nothing.
 */
void input_end(struct pending_input *p);

/* The worker's answer, made of a client's response. */
struct input_reply {
	bool ok;
	char *how;   /* for the log: an action, an error's code; or NULL */
	char *wrong; /* where CONTENT breaks the schema; or NULL */
	char *text;  /* JSON, LEN bytes */
	size_t len;
};

/*
 * End P, which is asked of no client now, and send REPLY (lent) to its worker.
 */
void input_answer(struct pending_input *p, const struct input_reply *reply);

/*
 * Read M, a client's result or error for P, and end P with the reply that the
 * worker gets. A small M is read at once. A large M is read on a thread: M is
 * taken then, and empty.
 */
void input_reply_read(struct pending_input *p, struct requestor *from,
		      struct rpc_msg *m);
/* Cancel the thread's job for P, if any: P ends before its answer is read. */
void input_reply_cancel(struct pending_input *p);

#endif
