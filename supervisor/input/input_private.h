/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_private.h - what the parts of input share; nobody else includes it.
 *
 *   input.c        all of a run's questions: new ones, who comes, who leaves
 *   input_route.c  one question: whom it is asked of, and how it ends
 *   input_reply.c  what a client answered, as the worker is to get it
 *   input_park.c   questions that a client takes along, and comes back with
 *   input_guests.c those that do so at other machines
 */
#ifndef SUPERVISOR_INPUT_INPUT_PRIVATE_H
#define SUPERVISOR_INPUT_INPUT_PRIVATE_H

#include <event2/event.h>
#include <sys/queue.h>

#include "supervisor/session/client_task.h"
#include "supervisor/input/input.h"
#include "supervisor/input/input_request.h"

/* One question without an answer, in input.pending. */
struct pending_input {
	struct input *input;
	uint32_t seq;
	/* its name among all that this run has asked, for who takes it along */
	char key[QUESTION_KEY_MAX + 16];
	struct input_request q;
	int64_t asked_mono_ms, expires_mono_ms;
	struct event *expiry;
	struct client_task *asked; /* NULL: it is held */
	/* by whose route; NULL: what belongs to no request */
	struct request *request;
	struct session *session; /* that it is asked of */
	bool was_asked;
	size_t bytes; /* of what is asked, as text */
	/* its answer is being read; Q is the job's */
	struct input_reply_job *job;
	LIST_ENTRY(pending_input) link;
};

/* A run's; run.input. */
struct input {
	struct context *ctx;
	struct run *run; /* borrowed */
	struct run_watch watch;
	LIST_HEAD(pending_inputs, pending_input)
	pending;	     /* MSG_ASKS_MAX at most */
	size_t bytes;	     /* of all that are pending */
	struct event *grace; /* until it must */
	/* who is to take them along is told when no more come… */
	struct event *gather;
	int64_t gather_ms; /* …or so long after the first of these */
	struct event
	    *parked; /* pending: somebody has them, and may come back */
	struct json_object *keys; /* that were used */
};

/*
 * Ask P of who is there to be asked, hold it if somebody may come, or end it
 * and refuse it. One that is not wanted is asked of nobody.
 */
void input_route(struct pending_input *p);
/* Who was asked P and is not there to read it: ask another who is, if any. */
void input_reroute(struct pending_input *p);
/* Whoever is asked P is told to forget it, with REASON; P is held. */
void input_withdraw(struct pending_input *p, const char *reason);

/* ---- input_park.c ---- */

/* P, which is new, gets its key. */
void input_name(struct pending_input *p);
/* C, who waits for the run, is to take along what IN has, as soon as it is all. */
void input_gather(struct input *in);
void input_gather_fini(struct input *in);
/* Is something of IN asked that who said T can be told? */
bool input_may_be_told(const struct input *in, const struct client_terms *t);

/* ---- input_guests.c ---- */

#define INPUT_NO_GUEST "" /* nobody waits elsewhere */
/* NULL: who waits for R at another machine can be asked Q. Else what is missing. */
const char *input_guests_missing(const struct run *r,
				 const struct input_request *q);
/* Is there one who is to take along what IN has? */
bool input_guests_gather(const struct input *in);
/* The first of them is told. False: there is none. */
bool input_guests_ask(struct input *in);

/* ---- */

/* P, which is asked of nobody now, ends without an answer; ERRMSG is emptied. */
void input_reject(struct pending_input *p, struct tool_error *errmsg);
/* Likewise, with INPUT_FAILED. */
void input_fail(struct pending_input *p, const char *what);
/* P, which is asked of nobody now, ends, and the worker is told nothing. */
void input_end(struct pending_input *p);

/* What the worker gets for a response of a client's. */
struct input_reply {
	bool ok;
	char *how;  /* for the log: an action, an error's code; or NULL */
	char *text; /* JSON, LEN bytes */
	size_t len;
};

/* P, which is asked of nobody now, ends, and its worker gets REPLY (lent). */
void input_answer(struct pending_input *p, const struct input_reply *reply);

/*
 * M answers P, by a result or an error: P ends with what the worker gets for
 * it, at once; or when it is large as soon as a thread has read it. M is taken
 * then, and empty.
 */
void input_reply_read(struct pending_input *p, struct requestor *from,
		      struct rpc_msg *m);
/* P ends before that: nobody waits for it. */
void input_reply_cancel(struct pending_input *p);

#endif
