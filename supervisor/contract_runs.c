/* SPDX-License-Identifier: Apache-2.0 */
/* contract_runs.c - the tools that ask about runs, or end them. */
#include "supervisor/contract.h"

#include <errno.h>
#include <string.h>

#include "proto/json.h"
#include "supervisor/call_answer.h"
#include "supervisor/view.h"

static struct json_object *args_of(const struct call *c)
{
	return json_member(c->msg.params, "arguments");
}

static void refuse_unknown(struct call *c, const char *id)
{
	struct refusal r = {0};

	requestor_missed(c->session->requestor);
	refuse(&r, "RUN_NOT_FOUND", NULL, "you have no run \"%.64s\"", id);
	call_refuse(c, &r);
}

/* True: RES is a failure, and C has been answered. */
static bool store_failed(struct call *c, const struct store_result *res)
{
	struct refusal r = {0};

	if (res->rc == -ENOENT) {
		refuse_unknown(c, json_member_str(args_of(c), "runId"));
	} else if (res->rc != 0) {
		refuse(&r, "STORE_UNAVAILABLE", NULL,
		       "the store cannot be read now: %s", store_says(res->rc));
		call_refuse(c, &r);
	}
	return res->rc != 0;
}

static void answer_view(struct call *c, const char *id, enum store_status status,
			const char *view)
{
	call_answer(c, &(struct answer_source){.id = id,
					       .status = status,
					       .form = STORE_TASK_VIEW,
					       .looked_up = true,
					       .view = view});
}

static void on_row(void *arg, const struct store_result *res)
{
	struct call *c = arg;

	if (!call_release(c) || store_failed(c, res))
		return;
	if (res->runs[0].view != NULL)
		answer_view(c, res->runs[0].id, res->runs[0].status,
			    res->runs[0].view);
	else
		call_tool_result(c, view_row(&res->runs[0]), false);
}

void contract_get_run(struct call *c, struct json_object *args)
{
	struct server *srv = c->session->server;
	const char *id = json_member_str(args, "runId");
	struct run *r = runs_find(server_runs(srv), c->session->requestor, id);

	if (r != NULL) {
		requestor_polled(c->session->requestor, &r->polled_ms,
				 VIEW_POLL_AFTER_MS);
		if (r->view != NULL) /* it has ended, and is being recorded */
			answer_view(c, r->id, run_stored_status(r), r->view);
		else
			call_tool_result(c, view_run(r, &srv->isolation), false);
		return;
	}
	call_hold_read(c);
	store_get_run(srv->store, c->session->requestor->name, id, on_row, c);
}

static void on_list(void *arg, const struct store_result *res)
{
	struct call *c = arg;
	struct json_object *v, *list;

	if (!call_release(c) || store_failed(c, res))
		return;
	v = json_object_new_object();
	list = json_object_new_array();
	for (size_t i = 0; i < res->n_runs; i++)
		json_object_array_add(list, view_summary(&res->runs[i]));
	json_object_object_add(v, "runs", list);
	json_object_object_add(v, "total", json_object_new_int64(res->total));
	call_tool_result(c, v, false);
}

void contract_list_runs(struct call *c, struct json_object *args)
{
	struct server *srv = c->session->server;
	struct json_object *limit = json_member(args, "limit");
	const char *status = json_member_str(args, "status");
	struct store_filter f = {
	    .requestor = c->session->requestor->name,
	    .status = status == NULL ? -1 : view_status_of(status),
	    .template_id = json_member_str(args, "templateId"),
	    .offset = json_object_get_int64(json_member(args, "offset")),
	    .limit = limit == NULL ? 20 : json_object_get_int(limit),
	};

	server_runs(srv);
	call_hold(c);
	store_list_runs(srv->store, &f, on_list, c);
}

static void answer_cancel(struct call *c, bool requested, const char *status,
			  const char *reason)
{
	struct json_object *v = json_object_new_object();

	json_object_object_add(v, "cancelRequested",
			       json_object_new_boolean(requested));
	json_object_object_add(v, "currentStatus",
			       json_object_new_string(status));
	if (reason != NULL)
		json_object_object_add(v, "reason",
				       json_object_new_string(reason));
	call_tool_result(c, v, false);
}

static void on_cancel_row(void *arg, const struct store_result *res)
{
	struct call *c = arg;
	enum store_status status;

	if (!call_release(c) || store_failed(c, res))
		return;
	status = res->runs[0].status;
	answer_cancel(c, false, view_status(status),
		      status == STORE_QUEUED || status == STORE_RUNNING
			  ? "another running server owns this run; ask that one"
			  : "the run has ended already");
}

static void present_cancel(struct call *c, struct run *r)
{
	answer_cancel(c, true, run_status(r), NULL);
}

void contract_cancel_run(struct call *c, struct json_object *args)
{
	struct server *srv = c->session->server;
	struct runs *runs = server_runs(srv);
	const char *id = json_member_str(args, "runId");
	struct run *r = runs_find(runs, c->session->requestor, id);

	if (r != NULL) {
		/* asked for already counts as asked for */
		runs_cancel(runs, r);
		c->present = present_cancel;
		if (run_terminal(r)) /* it was queued: once that is durable */
			call_watch(c, r);
		else
			present_cancel(c, r);
		return;
	}
	call_hold(c);
	store_get_run(srv->store, c->session->requestor->name, id, on_cancel_row,
		      c);
}
