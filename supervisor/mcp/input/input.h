/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - a run's questions reach the right client, and the answers the run.
 *
 * A waiter for the run's result is asked: the call that made the run; or for a
 * task the session that made it, as soon as the session's client can know the
 * task, else a waiter in tasks/result. A question goes to a single client at a
 * time, by a single way.
 */
#ifndef SUPERVISOR_INPUT_INPUT_H
#define SUPERVISOR_INPUT_INPUT_H

#include "base/id.h"
#include "proto/mcp/request_state.h"
#include "supervisor/run/run.h"
#include "supervisor/context.h"
#include "supervisor/run/worker/worker.h"
#include "supervisor/session/request.h"

/* The time that a client has to take note of a task that it made. */
#define INPUT_TASK_GRACE_MS 200

/* A worker_on_question for all kinds but CALL: ask ASK of R's clients. */
void input_ask(struct context *ctx, struct run *r,
	       const struct worker_question *ask);

/*
 * A worker_on_drop: end question SEQ, and tell the asked client to forget it.
 */
void input_cancel(struct context *ctx, struct run *r, uint32_t seq);

/*
 * Returns the open questions of R's template that a client with the terms T can
 * answer: {key: {method, params}}, the caller's. NULL: there are none.
 */
struct json_object *input_requests(const struct run *r,
				   const struct client_terms *t);
/*
 * Read FROM's answers by their keys in RESPONSES (lent; not an object: nothing
 * is done), which took BYTES of text. An answer that is an object and belongs
 * to an open question goes to the worker; the other questions stay open.
 */
void input_answer_keys(struct run *r, struct requestor *from,
		       struct json_object *responses, size_t bytes);
/* Refuse R's questions by their keys in REFUSED (lent): {key: {code, message, details}}. */
void input_refuse_keys(struct run *r, struct json_object *refused);
/*
 * REQUESTS (lent; NULL: none) are the questions of R, a called run at another server, as
 * of input_requests(): hold each at the outermost run, and drop R's other questions.
 */
void input_relay(struct context *ctx, struct run *r,
		 struct json_object *requests);
/* Has R's template a question that a client with the terms T can be asked? */
bool input_may_be_told(const struct run *r, const struct client_terms *t);
/* Refuse all open questions of R's template with E, which is emptied. */
void input_refuse_all(struct run *r, struct tool_error *e);

/*
 * Park R: its client takes the questions along, and comes back with the round
 * r->rounds.given, which is set here. R fails when no client comes back in time.
 */
void input_park(struct run *r);
/*
 * End the parking of R, if R is parked: a client came back, or the run goes on.
 */
void input_unpark(struct run *r);

/* Note that the CreateTaskResult of R has left: the grace time begins. */
void input_task_told(struct context *ctx, struct run *r);
/*
 * Note that a client knows the task R (tasks/get): held questions can be asked.
 */
void input_task_known(struct run *r);

/* ---- an answer that asks for more input (MCP 2026-07-28) ---- */

/*
 * Answer REQ (of a revision without sessions) by "input_required": REQUESTS
 * ({key: {method, params}}, taken) are needed, and the client is to come back
 * with ST, whose run, round and call are set.
 */
void input_required(struct request *req, struct json_object *requests,
		    struct request_state *st);

/*
 * Returns the key, lent, of this server's seals. Servers with the same database
 * or state folder have the same key. Before the database was first reached, the
 * state folder's key stands in.
 */
const unsigned char *input_seal_key(const struct context *ctx);

/* Does REQ bring a state? */
bool input_required_is_retry(const struct request *req);
/*
 * Open REQ's state into ST, whose call is set: a retry repeats its call. False:
 * the state is foreign, too old, or of another requestor or call, and REQ has
 * been answered by an error with the reason.
 */
bool input_required_open(struct request *req, struct request_state *st);
/* Refuse REQ, whose state was used before. */
void input_required_used(struct request *req);

#endif
