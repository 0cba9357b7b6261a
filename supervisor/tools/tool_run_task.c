/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_task.c - a call that is a task: because it asked for one (2025-11-25),
 * or by the server's decision (the extension of 2026-07-28), at once or when it has
 * taken long; tool_run.c calls it. What cannot be recorded as a task is held open as
 * any other call; what ends before it is recorded is answered plainly.
 */
#include "supervisor/tools/tool_run_private.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/input/input.h"
#include "supervisor/input/input_request.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/task_json.h"
#include "supervisor/session/task_notify.h"

/* ---- what is wished for ---- */

/* It outlives the message, which a thread may let go. */
static struct json_object *copy_of(struct json_object *token)
{
	struct json_object *copy = NULL;

	if (token != NULL && json_object_deep_copy(token, &copy, NULL) < 0)
		abort();
	return copy;
}

bool tool_run_is_answered_later(const struct request *c)
{
	return c->may_be_task && mcp_declares(c->terms->capabilities,
					      MCP_EXTENSION_ANSWERS_LATER);
}

/* Its progress is the task's, not this call's; the extension has none. */
void tool_run_wish_task(struct request *c)
{
	struct tool_run_args *ask = c->state;

	ask->wish.task = ask->form;
	ask->wish.task_ttl_ms = c->task_ttl_ms;
	if (c->may_be_task)
		ask->wish.task_capabilities = input_request_askable(c->terms);
	else
		ask->token = copy_of(c->progress.token);
	c->progress.token = NULL;
}

/* Where others may start its run, it is to be known at once what it may become. */
void tool_run_wish_later(struct request *c)
{
	struct tool_run_args *ask = c->state;

	ask->wish.asks_here = !c->may_be_task && !ask->wish.promised &&
			      input_request_any(c->terms);
	if (!c->may_be_task || ask->wish.task != STORE_TASK_NONE ||
	    !store_is_shared(c->ctx->store))
		return;
	ask->wish.task_later = ask->form;
	if (ask->wish.task_capabilities == NULL)
		ask->wish.task_capabilities = input_request_askable(c->terms);
}

/* ---- CreateTaskResult ---- */

static void told(const struct request *c, struct run *r)
{
	if (!r->task.told)
		audit_task("task_created", c->requestor, r->id, NULL);
	r->task.told = true;
}

static void add_deduplicated(struct json_object *result)
{
	struct json_object *meta = json_object_new_object();

	tool_run_deduplicated_meta(meta);
	json_add(result, "_meta:o", meta);
}

/* Its client looks at it when it likes, and may answer what it asks by then. */
static void created_unasked(struct request *c, struct run *r)
{
	const struct tool_run_args *ask = c->state;
	struct json_object *result = task_json_started(r, tool_run_mortal(c));

	if (ask->deduplicated)
		add_deduplicated(result);
	told(c, r);
	request_result(c, result);
	input_unpark(r); /* nobody has to come back for it */
	input_task_known(r);
}

/* From then on what is told of the task unasked follows. */
void tool_run_created(struct request *c, struct run *r, bool feed)
{
	struct tool_run_args *ask = c->state;
	struct json_object *token, *result;
	struct session *s = c->session;

	if (c->may_be_task) {
		created_unasked(c, r);
		return;
	}
	token = json_object_get(ask->token);
	result = task_json_created(r, tool_run_mortal(c));
	if (ask->deduplicated)
		tool_run_deduplicated_meta(json_member(result, "_meta"));
	told(c, r);
	request_result(c, result);
	if (feed && r->task.feed == NULL) {
		task_notify_start(s, r, token);
		input_task_told(s->ctx, r);
	}
	json_object_put(token);
}

void tool_run_created_row(struct request *c, const struct store_run *row)
{
	struct json_object *result = task_json_started_row(row);

	add_deduplicated(result);
	request_result(c, result);
}

/* ---- a call becomes one ---- */

static void respond(struct request *c, struct run *r)
{
	request_unwatch(c);
	c->as_task = true;
	tool_run_respond(c, r);
}

/* Who waits with C for R may have made it one, or be about to. */
static void on_long(evutil_socket_t fd, short what, void *arg)
{
	struct request *c = arg;
	struct tool_run_args *ask = c->state;
	struct run *r = c->run;
	struct run_wish wish = {.task = ask->form};

	(void)fd, (void)what;
	if (r == NULL || run_terminal(r))
		return; /* its end is being recorded, and then answered */
	if (task_json_is_live(r) && r->durable) {
		respond(c, r);
		return;
	}
	if (task_json_is_live(r)) { /* who asked for it waits for that, too */
		c->as_task = ask->handed_out = true;
		return;
	}
	ask->becomes_task = true;
	run_waiter_del(&c->waiter); /* what it asks now is the task's */
	if (r->task.pending)
		return;
	wish.task_capabilities = input_request_askable(c->terms);
	runs_make_task(c->ctx->runs, r, &wish); /* which may say no at once */
	json_object_put(wish.task_capabilities);
}

void tool_run_await_task(struct request *c)
{
	request_set_timer(c, c->ctx->config->task_after_ms, on_long);
}

void tool_run_task_recorded(struct request *c, struct run *r,
			    const char *unrecorded)
{
	struct tool_run_args *ask = c->state;

	if (!ask->becomes_task || run_terminal(r))
		return;
	ask->becomes_task = false;
	if (unrecorded == NULL) {
		respond(c, r);
		return;
	}
	run_waiter_add(r, &c->waiter);
	tool_run_await_handle(c);
}
