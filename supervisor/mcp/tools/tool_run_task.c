/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_task.c - calls which are tasks: at the client's wish (2025-11-25),
 * or by the server's decision (the extension of 2026-07-28), at once or after
 * some time. tool_run.c calls it. If the task cannot be recorded the call is
 * held open; a run which ends before is answered plainly.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/mcp/input/input_request.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/session/task_notify.h"

/* ---- the task wished for ---- */

/*
 * The token is for the task's progress, not for this call; the extension has
 * none.
 */
void tool_run_wish_task(struct request *req)
{
	struct tool_run_args *ask = req->state;

	ask->wish.task = ask->form;
	ask->wish.task_ttl_ms = req->task_ttl_ms;
	if (req->may_be_task)
		ask->wish.task_capabilities = input_request_askable(req->terms);
	else if (req->progress.token !=
		     NULL && /* a thread may free the message */
		 json_object_deep_copy(req->progress.token, &ask->token, NULL) <
		     0)
		abort();
	req->progress.token = NULL;
}

/*
 * On a shared store any server may start the run: record now what REQ may become.
 */
void tool_run_wish_later(struct request *req)
{
	struct tool_run_args *ask = req->state;

	ask->wish.asks_here = !req->may_be_task && !ask->wish.promised &&
			      input_request_any(req->terms);
	if (!req->may_be_task || ask->wish.task != STORE_TASK_NONE ||
	    req->ctx->cluster == NULL)
		return;
	ask->wish.task_later = ask->form;
	if (ask->wish.task_capabilities == NULL)
		ask->wish.task_capabilities = input_request_askable(req->terms);
}

/* ---- CreateTaskResult ---- */

static void on_recorded(const struct request *req, struct run *r)
{
	if (!r->task.told)
		audit_task("task_created", req->requestor, r->id, NULL);
	r->task.told = true;
}

static void add_deduplicated(struct json_object *result)
{
	struct json_object *meta = json_object_new_object();

	tool_run_deduplicated_meta(meta);
	json_add(result, "_meta:o", meta);
}

/* Answer with the task; the notifications of the task follow. */
void tool_run_created(struct request *req, struct run *r, bool feed)
{
	struct tool_run_args *ask = req->state;
	struct json_object *token, *result;
	struct session *s = req->session;

	if (req->may_be_task) {
		/* by the server's decision: the client polls, and may answer */
		result = task_json_started(r, tool_run_mortal(req));
		if (ask->deduplicated)
			add_deduplicated(result);
		on_recorded(req, r);
		request_result(req, result);
		input_unpark(r); /* no repeated call is needed */
		input_task_known(r);
		return;
	}
	token = json_object_get(ask->token);
	result = task_json_created(r, tool_run_mortal(req));
	if (ask->deduplicated)
		tool_run_deduplicated_meta(json_member(result, "_meta"));
	on_recorded(req, r);
	request_result(req, result);
	if (feed && r->task.feed == NULL) {
		task_notify_start(s, r, token);
		input_task_told(s->ctx, r);
	}
	json_object_put(token);
}

void tool_run_created_row(struct request *req, const struct store_run *row)
{
	struct json_object *result = task_json_started_row(row);

	add_deduplicated(result);
	request_result(req, result);
}

/* ---- a call becomes a task ---- */

static void respond(struct request *req, struct run *r)
{
	request_unwatch(req);
	req->as_task = true;
	tool_run_respond(req, r);
}

/* Make REQ a task. Another request which waits for R may have made R a task. */
static void on_long(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	struct tool_run_args *ask = req->state;
	struct run *r = req->run;
	struct run_wish wish = {.task = ask->form};

	(void)fd, (void)what;
	if (r == NULL || run_terminal(r))
		return; /* the answer follows the record of the end */
	if (task_json_is_live(r) && run_is_durable(r)) {
		respond(req, r);
		return;
	}
	/* the other request waits for the record too */
	if (task_json_is_live(r)) {
		req->as_task = ask->handed_out = true;
		return;
	}
	ask->becomes_task = true;
	run_waiter_del(&req->waiter); /* the task takes questions from now on */
	if (r->task.pending)
		return;
	wish.task_capabilities = input_request_askable(req->terms);
	/* may report a failure at once */
	runs_make_task(req->ctx->runs, r, &wish);
	json_object_put(wish.task_capabilities);
}

/*
 * Set the timer after which REQ becomes a task: at the latest when a call in mode
 * auto would get a handle.
 */
void tool_run_await_task(struct request *req)
{
	const struct tool_run_args *ask = req->state;
	int64_t ms = req->ctx->config->task_after_ms;

	if (ask->mode == MODE_AUTO && req->ctx->config->inline_wait_ms < ms)
		ms = req->ctx->config->inline_wait_ms;
	request_set_timer(req, ms, on_long);
}

void tool_run_task_recorded(struct request *req, struct run *r,
			    const char *unrecorded)
{
	struct tool_run_args *ask = req->state;

	if (!ask->becomes_task || run_terminal(r))
		return;
	ask->becomes_task = false;
	if (unrecorded == NULL) {
		respond(req, r);
		return;
	}
	run_waiter_add(r, &req->waiter);
	tool_run_await_handle(req);
}
