/* SPDX-License-Identifier: Apache-2.0 */
/* tool_runs.c - the tools that ask about runs, or end them. */
#include "supervisor/tools/contract_tools.h"

#include <errno.h>
#include <string.h>

#include "proto/json/json.h"
#include "supervisor/session/run_response.h"
#include "supervisor/tools/remote_run.h"
#include "supervisor/run/run_json.h"

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

static void present_row(struct call *c, const struct elsewhere_end *end)
{
	const struct store_run *row = end->res->runs;

	if (store_failed(c, end->res))
		return;
	if (row->status <= STORE_RUNNING)
		call_tool_result(c, view_open_row(row, end->silent), false);
	else if (row->view != NULL)
		answer_view(c, row->id, row->status, row->view);
	else
		call_tool_result(c, view_row(row), false);
}

static void present_ours(struct call *c, struct run *r)
{
	requestor_polled(c->session->requestor, &r->polled_ms,
			 VIEW_POLL_AFTER_MS);
	if (r->view != NULL) /* it has ended, and is being recorded */
		answer_view(c, r->id, run_stored_status(r), r->view);
	else
		call_tool_result(c, view_run(r, &c->server->isolation), false);
}

void contract_get_run(struct call *c, struct json_object *args)
{
	struct server *srv = c->session->server;
	const char *id = json_member_str(args, "runId");
	struct run *r = runs_find(server_runs(srv), c->session->requestor, id);

	if (r != NULL)
		present_ours(c, r);
	else
		elsewhere_ask(c, &(struct elsewhere){.want = ELSEWHERE_VIEW,
						     .id = id,
						     .done = present_row,
						     .ours = present_ours});
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

/* Why what was wanted of ROW did not come about; NULL: it did. */
static const char *why_not(const struct elsewhere_end *end)
{
	const struct store_run *row = end->res->runs;
	bool stopped = row->status == STORE_CANCELED || row->cancelling;

	if (end->silent != NULL)
		return "another server has this run and does not answer now; "
		       "it ends the run as soon as it can";
	if (stopped && end->asked)
		return NULL;
	if (row->status <= STORE_RUNNING)
		return row->cancelling ? NULL : "the run has ended, but that is not recorded yet";
	if (end->died && row->status == STORE_FAILED)
		return "the server that ran it has died, which has interrupted "
		       "the run";
	return "the run has ended already";
}

/* True: who has the run cannot be asked to end it, and C has been answered. */
static bool cannot_ask(struct call *c, const struct elsewhere_end *end)
{
	struct refusal r = {0};

	if (end->res->rc == 0 || end->silent == NULL)
		return false;
	refuse(&r, "STORE_UNAVAILABLE", NULL, "the run was not cancelled: %s",
	       end->silent);
	call_refuse(c, &r);
	return true;
}

static void present_end(struct call *c, const struct elsewhere_end *end)
{
	const struct store_run *row = end->res->runs;
	const char *why;

	if (cannot_ask(c, end) || store_failed(c, end->res))
		return;
	why = why_not(end);
	answer_cancel(c, why == NULL || end->silent != NULL,
		      view_status(row->status), why);
}

static void present_cancel(struct call *c, struct run *r)
{
	answer_cancel(c, true, run_status(r), NULL);
}

static void cancel_ours(struct call *c, struct run *r)
{
	/* asked for already counts as asked for */
	runs_cancel(server_runs(c->server), r);
	c->present = present_cancel;
	if (run_terminal(r)) /* it was queued: once that is durable */
		call_watch(c, r);
	else
		present_cancel(c, r);
}

void contract_cancel_run(struct call *c, struct json_object *args)
{
	struct runs *runs = server_runs(c->server);
	const char *id = json_member_str(args, "runId");
	struct run *r = runs_find(runs, c->session->requestor, id);

	if (r != NULL)
		cancel_ours(c, r);
	else
		elsewhere_ask(c, &(struct elsewhere){.want = ELSEWHERE_CANCEL,
						     .id = id,
						     .done = present_end,
						     .ours = cancel_ours});
}
