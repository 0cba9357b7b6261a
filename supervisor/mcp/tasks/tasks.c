/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - tasks/get, result, list and cancel; methods.c calls it by its
 * table. tasks/result waits for the notice of a local run, and reads the row of
 * a remote run again and again. Unknown, expired and other requestors' tasks
 * are a single error, so that a client does not learn which.
 */
#include "supervisor/mcp/tasks/tasks.h"
#include "supervisor/mcp/tasks/task_lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/response.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/mcp/tools/run_lookup.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/session/pagination.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/session/request_backlog.h"

#define ELSEWHERE_MS 500 /* ms between reads of a remote run */

/* ---- tasks/get ---- */

static void show_task(struct request *req, const struct run_found *f)
{
	struct run *r = f->run;
	struct store_run row;

	if (task_lookup_missing(req, f))
		return;
	if (r != NULL) {
		requestor_polled(r->requestor, &r->job.polled_ms,
				 task_json_poll_ms(r));
		request_result(req, task_json_make(r));
		input_task_known(r);
		return;
	}
	row = f->res->runs[0];
	if (f->silent != NULL) { /* the owner's last report is old */
		row.awaiting = false;
		row.task_note = NULL;
	}
	request_result(req, task_json_row(&row));
}

void tasks_get(struct request *req)
{
	const char *id = task_lookup_id(req);

	if (id != NULL)
		run_lookup(req,
			   &(struct run_query){.want = RUN_LOOKUP_TASK,
					       .id = id,
					       .found = show_task,
					       .fits = task_json_row_is_live});
}

/* ---- tasks/result ---- */

struct wait {			/* request.state */
	struct run_watch watch; /* watch of the task's run */
	struct request *request;
};

static void wait_free(void *state)
{
	struct wait *w = state;

	run_watch_del(&w->watch);
	run_waiter_del(&w->request->waiter);
	free(w);
}

static const struct request_ops wait_ops = {.free = wait_free};

static void cancelled(struct request *req)
{
	struct json_object *data = json_object_new_object();
	const char *id = json_member_str(req->msg.params, "taskId");

	task_lookup_retrieved(req);
	json_add(data, "errorCode:s runId:s", "RUN_CANCELED", id);
	request_error(req, RPC_INTERNAL_ERROR, data, "Task was cancelled");
}

/*
 * Answer with the result of the call which made the task: it is over and
 * recorded.
 */
static void give_result(struct request *req, const struct run_result_source *a)
{
	if (a->status == STORE_CANCELED) {
		cancelled(req);
		return;
	}
	task_lookup_retrieved(req);
	response_run_of_task(req, a);
}

static void look_for_result(evutil_socket_t fd, short what, void *arg);

static void on_notice(struct run_watch *watch, struct run *r,
		      const struct run_notice *n)
{
	struct request *req = CONTAINER(watch, struct wait, watch)->request;
	bool asked_to_end = task_json_status(r) == TASK_CANCELLED;
	struct run_result_source a;

	if (n->kind == NOTICE_LEFT && run_is_of_others(r)) {
		wait_free(request_take_state(req));
		request_error(
		    req, RPC_INTERNAL_ERROR,
		    json_pack("runId:s retryAfterMs:i", r->id,
			      ADMISSION_RETRY_MS),
		    "this server is being stopped, and another has the "
		    "task, or will: ask for its result again");
		return;
	}
	if (n->kind != NOTICE_RECORDED &&
	    !(n->kind == NOTICE_STATE && asked_to_end))
		return;
	wait_free(request_take_state(req));
	if (asked_to_end)
		cancelled(req);
	else if (!task_lookup_unrecorded(req, n) &&
		 !request_backlog_holds(req, look_for_result)) {
		a = task_lookup_source_live(req, r);
		give_result(req, &a);
	}
}

static void wait_for(struct request *req, struct run *r)
{
	struct wait *w;

	if (task_json_status(r) == TASK_CANCELLED) {
		cancelled(req);
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->request = req;
	w->watch.on_notice = on_notice;
	request_set_state(req, &wait_ops, w);
	run_watch_add(r, &w->watch);
	run_waiter_add(r, &req->waiter);
}

static void on_result(struct request *req, const struct run_found *f)
{
	const struct store_run *row;
	struct run_result_source a;
	struct json_object *made;

	if (task_lookup_missing(req, f))
		return;
	if (f->run != NULL) {
		wait_for(req, f->run);
		return;
	}
	row = f->res->runs;
	if (task_json_row_status(row) == TASK_CANCELLED) {
		cancelled(req);
	} else if (task_json_is_over(task_json_row_status(row))) {
		a = task_lookup_source(req, row, &made);
		give_result(req, &a);
		json_object_put(made);
	} else {
		run_lookup_owner_died(req->ctx, row);
		request_set_timer(req, ELSEWHERE_MS, look_for_result);
	}
}

static void look_for_result(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;

	(void)fd, (void)what;
	if (request_backlog_holds(req, look_for_result))
		return;
	run_lookup(req, &(struct run_query){
			    .want = RUN_LOOKUP_WHOLE,
			    .id = json_member_str(req->msg.params, "taskId"),
			    .found = on_result});
}

void tasks_result(struct request *req)
{
	const char *id = task_lookup_id(req);
	struct run *r = id != NULL ? run_lookup_ours(req, id) : NULL;

	if (r != NULL && task_lookup_is_task(r))
		wait_for(req, r);
	else if (id != NULL)
		look_for_result(-1, 0, req);
}

/* ---- tasks/list ---- */

static void on_list(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct json_object *list, *result;

	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		request_unreadable(req, res->rc);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < res->n_runs && i < TASKS_PAGE; i++) {
		struct run *r = run_lookup_ours(req, res->runs[i].id);

		json_object_array_add(list, r != NULL && task_lookup_is_task(r)
						? task_json_make(r)
						: task_json_row(&res->runs[i]));
	}
	result = json_pack("tasks:o", list);
	if (res->n_runs > TASKS_PAGE)
		pagination_write_cursor(result, res->runs[TASKS_PAGE - 1].id);
	request_result(req, result);
}

void tasks_list(struct request *req)
{
	const struct requestor *q = req->session->requestor;
	struct context *ctx = req->session->ctx;
	char before[PAGINATION_WHERE_MAX + 1];

	if (requestor_is_anonymous(q)) {
		request_error(
		    req, RPC_METHOD_NOT_FOUND, NULL,
		    "tasks/list is not for callers without a name, since "
		    "it would show one the tasks of another; the "
		    "operator can give you a token");
		return;
	}
	if (!pagination_read_cursor(req, before))
		return;
	if (before[0] == '\0') {
		snprintf(before, sizeof(before), "%s", ID_AFTER_ALL);
	} else if (!id_ok(before, "run")) {
		pagination_refuse_cursor(req);
		return;
	}
	request_ref(req);
	store_list_tasks(ctx->store, q->name, before, clock_wall_ms(),
			 TASKS_PAGE + 1, on_list, req);
}

/* ---- tasks/cancel ---- */

static void refuse_over(struct request *req, enum task_json_status status)
{
	request_error(req, RPC_INVALID_PARAMS, NULL,
		      "this task has ended already: it is %s",
		      task_json_status_name(status));
}

static void state_put(void *state)
{
	json_object_put(state);
}

static const struct request_ops canceled_ops = {.free = state_put};

/*
 * Answer once the store has done this read, and so all earlier writes: the
 * cancel is durable, if anything can be.
 */
static void on_cancelled(void *arg, const struct store_result *res)
{
	struct request *req = arg;

	(void)res;
	if (request_unref(req))
		request_result(req, json_object_get(req->state));
}

static void cancel_live(struct request *req, struct run *r)
{
	struct context *ctx = req->session->ctx;

	if (task_json_is_over(task_json_status(r))) {
		refuse_over(req, task_json_status(r));
		return;
	}
	audit_task("task_cancel_asked", req->session->requestor, r->id, NULL);
	runs_cancel(ctx->runs, r);
	request_set_state(req, &canceled_ops, task_json_make(r));
	request_ref(req);
	store_get_task(ctx->store, req->session->requestor->name, r->id,
		       on_cancelled, req);
}

static void cancel_task(struct request *req, const struct run_found *f)
{
	const struct store_run *row;

	if (task_lookup_not_cancelled(req, f))
		return;
	if (f->run != NULL) {
		cancel_live(req, f->run);
		return;
	}
	row = f->res->runs;
	if (f->silent != NULL)
		task_lookup_cancels_late(req);
	else if (!f->asked || task_json_row_status(row) != TASK_CANCELLED)
		refuse_over(req, task_json_row_status(row));
	else
		request_result(req, task_json_row(row));
}

void tasks_cancel(struct request *req)
{
	const char *id = task_lookup_id(req);

	if (id != NULL)
		run_lookup(req,
			   &(struct run_query){.want = RUN_LOOKUP_CANCEL,
					       .id = id,
					       .found = cancel_task,
					       .fits = task_json_row_is_live});
}

/* ---- the capability ---- */

struct json_object *tasks_capability(const struct requestor *requestor)
{
	struct json_object *o = json_object_new_object();

	if (!requestor_is_anonymous(requestor))
		json_add(o, "list:o", json_object_new_object());
	json_add(o, "cancel:o requests:o", json_object_new_object(),
		 json_pack("tools:o",
			   json_pack("call:o", json_object_new_object())));
	return o;
}
