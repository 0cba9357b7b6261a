/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - a run's questions reach the right client, and the answers the
 * run.
 *
 * Whoever waits for a run's result is asked: the call that made it, or for a
 * task the session that made it, as soon as its client can know the task;
 * else who waits in tasks/result. A question goes to one client at a time, by
 * one way.
 */
#ifndef SUPERVISOR_INPUT_INPUT_H
#define SUPERVISOR_INPUT_INPUT_H

#include "supervisor/run/run.h"
#include "supervisor/context.h"
#include "supervisor/worker/worker.h"
#include "supervisor/session/session.h"

struct request;

/* The time in which a client takes note of a task that it made. */
#define INPUT_TASK_GRACE_MS 200

/* A worker_on_question, for all but CALL. */
void input_ask(struct context *ctx, struct run *r,
	       const struct worker_question *ask);

/* A worker_on_drop: a client that was asked is told to forget it. */
void input_cancel(struct context *ctx, struct run *r, uint32_t seq);

/*
 * What R's template asks and who said T can answer: {key: {method, params}}, the
 * caller's; NULL: nothing.
 */
struct json_object *input_requests(const struct run *r,
				   const struct client_terms *t);
/*
 * RESPONSES (an object, lent; else nothing is done) has FROM's answers by their
 * keys. Each that is an object and answers what is asked goes to the worker;
 * BYTES of text it all had. The rest stays asked.
 */
void input_answer_keys(struct run *r, struct requestor *from,
		       struct json_object *responses, size_t bytes);
/* All that R's template asks is refused with E, which is emptied. */
void input_refuse_all(struct run *r, struct tool_error *e);

/*
 * R's client takes its questions along, and has ROUND (r->rounds now) to come
 * back with. R is parked until then; it fails when nobody comes in time.
 */
void input_park(struct run *r);
/* Somebody is back. */
void input_unpark(struct run *r);

/* The CreateTaskResult of R has left. */
void input_task_told(struct context *ctx, struct run *r);
/* A client asks about R by tasks/get: so it knows the task. */
void input_task_known(struct run *r);

#endif
