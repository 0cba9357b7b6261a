/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_idempotent.c - finds the run of a call with an idempotencyKey.
 * tool_run.c calls it before it makes a run, and when another server made the
 * run first. The key with other inputs is refused; without the store's answer
 * no run is made.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/session/response.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/session/request_backlog.h"

#define OTHER_INPUTS "a run with other inputs"
#define LOOK_MS 250 /* ms between reads of a remote run's row */
#define NO_TASK "a run that is no task, or no more"

static void refuse_key(struct request *req, const char *other)
{
	struct schema_error err = {.pointer = "/options/idempotencyKey",
				   .keyword = "idempotencyKey"};
	struct tool_error r = {0};

	snprintf(err.expected, sizeof(err.expected),
		 "a key that was not used for %s", other);
	snprintf(err.text, sizeof(err.text),
		 "this idempotencyKey belongs to %s", other);
	contract_tools_invalid(&r, "", &err);
	request_tool_error(req, &r);
}

static void join(struct request *req, struct run *r)
{
	struct tool_run_args *ask = req->state;

	if (strcmp(r->idem.digest, ask->digest) != 0) {
		refuse_key(req, OTHER_INPUTS);
		return;
	}
	if (req->as_task && !task_json_is_live(r)) {
		refuse_key(req, NO_TASK);
		return;
	}
	ask->deduplicated = true;
	if (ask->mode != MODE_ASYNC && req->may_be_task && run_is_durable(r) &&
	    !run_terminal(r) && task_json_is_live(r))
		req->as_task = true; /* the run is a task already */
	if (ask->mode != MODE_ASYNC && !req->as_task)
		tool_run_wait(req, r);
	else if (run_is_durable(r))
		tool_run_respond(req, r);
	else
		tool_run_wait_durable(req, r);
}

static void task_again(struct request *req, const struct store_run *row)
{
	struct json_object *result, *meta;

	if (!task_json_row_is_live(row)) {
		refuse_key(req, NO_TASK);
		return;
	}
	result = json_object_new_object();
	meta = json_object_new_object();
	json_add(result, "task:o", task_json_row(row));
	tool_run_deduplicated_meta(meta);
	json_add(result, "_meta:o", meta);
	request_result(req, result);
}

static void poll_key(evutil_socket_t fd, short what, void *arg);

/* Does REQ wait for the end of the remote run in ROW? */
static bool waits_for(struct request *req, const struct store_run *row)
{
	struct tool_run_args *ask = req->state;

	if (req->ctx->cluster == NULL || ask->mode == MODE_ASYNC ||
	    row->status > STORE_RUNNING ||
	    (ask->mode == MODE_AUTO &&
	     (int64_t)ask->looks * LOOK_MS >= req->ctx->config->inline_wait_ms))
		return false;
	ask->looks++;
	request_set_timer(req, LOOK_MS, poll_key);
	return true;
}

static void answer_again(struct request *req, const struct store_run *row)
{
	struct tool_run_args *ask = req->state;
	struct json_object *v;

	if (row->idem_digest == NULL ||
	    strcmp(row->idem_digest, ask->digest) != 0) {
		refuse_key(req, OTHER_INPUTS);
		return;
	}
	if (req->as_task) {
		task_again(req, row);
		return;
	}
	if (ask->mode != MODE_ASYNC && req->may_be_task &&
	    row->status <= STORE_RUNNING && task_json_row_is_live(row)) {
		tool_run_created_row(req, row);
		return;
	}
	if (waits_for(req, row))
		return;
	ask->deduplicated = true;
	if (ask->mode != MODE_ASYNC && row->status > STORE_RUNNING) {
		/* the result may be large, and is read in REQ's turn */
		request_backlog_present(req, row->id);
		return;
	}
	v = run_json_row_handle(row);
	json_add(v, "deduplicated:b", true);
	response_tool_result(req, v, false);
}

static void on_idem(void *arg, const struct store_result *res)
{
	struct tool_error tool_error = {0};
	struct request *req = arg;
	struct tool_run_args *ask;
	struct run *r;

	if (!request_unref(req))
		return;
	ask = req->state;
	/* a different call may have made the run since poll_key() */
	r = runs_find_idem(req->session->ctx->runs, req->session->requestor,
			   ask->template->id, ask->wish.idem_key);
	if (r != NULL)
		join(req, r);
	else if (res->rc == 0)
		answer_again(req, &res->runs[0]);
	else if (res->rc == -ENOENT && !ask->taken && ask->looks == 0)
		tool_run_create(req);
	else {
		tool_error_set(
		    &tool_error, "STORE_UNAVAILABLE", admission_store_details(),
		    "no run can be started now, since the server cannot read "
		    "which there are: %s",
		    store_says(res->rc));
		request_tool_error(req, &tool_error);
	}
}

static void poll_key(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	const struct tool_run_args *ask = req->state;

	(void)fd, (void)what;
	request_ref(req);
	store_find_idem(req->ctx->store, req->session->requestor->name,
			ask->template->id, ask->wish.idem_key, on_idem, req);
}

void tool_run_find_or_create(struct request *req)
{
	struct session *s = req->session;
	struct tool_run_args *ask = req->state;
	struct runs *runs = s->ctx->runs;
	struct run *r;

	ask->wish.idem_digest = ask->digest;
	r = runs_find_idem(runs, s->requestor, ask->template->id,
			   ask->wish.idem_key);
	if (r != NULL) {
		join(req, r);
		return;
	}
	poll_key(-1, 0, req);
}

void tool_run_taken(struct request *req)
{
	struct tool_run_args *ask = req->state;

	ask->taken = true;
	poll_key(-1, 0, req);
}
