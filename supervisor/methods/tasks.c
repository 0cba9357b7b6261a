/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - serves tasks/get, result, list and cancel; called from the table in
 * methods.c. tasks/result waits for the run's notice, and for another server's
 * run asks the store again and again. Unknown, expired and others' tasks are
 * one error, so that nobody learns which.
 */
#include "supervisor/methods/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/run_response.h"
#include "supervisor/run/audit.h"
#include "supervisor/tools/remote_run.h"
#include "supervisor/input/input.h"
#include "supervisor/session/pagination.h"
#include "supervisor/run/task_json.h"
#include "supervisor/run/run_json.h"
#include "supervisor/exec/runs.h"

#define REMOTE_RUN_POLL_MS 500 /* a run of another server, by the store */

/* ---- which task ---- */

/* params.taskId, or NULL: C has been answered. */
static const char *id_of(struct request *c)
{
	const char *id = json_member_str(c->msg.params, "taskId");

	if (id == NULL)
		request_error(c, RPC_INVALID_PARAMS, NULL,
			      "%s needs params.taskId, a string",
			      c->msg.method);
	return id;
}

/* Unknown, another's, expired, no task at all: nobody learns which. */
static void not_found(struct request *c)
{
	requestor_missed(c->session->requestor);
	audit_refused(c->session->requestor, c->msg.method,
		      json_member_str(c->msg.params, "taskId"),
		      "TASK_NOT_FOUND");
	request_error(c, RPC_INVALID_PARAMS, NULL, "Task not found");
}

/* The task that runs here; NULL: ask the store. Borrowed. */
static struct run *live(const struct request *c, const char *id)
{
	struct run *r =
	    runs_find(c->session->ctx->runs, c->session->requestor, id);

	return r != NULL && r->durable && task_json_is_live(r) ? r : NULL;
}

/* True: RES is no living task of C's requestor, and C has been answered. */
static bool none(struct request *c, const struct store_result *res)
{
	if (res->rc == -ENOENT ||
	    (res->rc == 0 && !task_json_row_is_live(res->runs)))
		not_found(c);
	else if (res->rc != 0)
		request_error(c, RPC_INTERNAL_ERROR, NULL,
			      "the store cannot be read now: %s",
			      store_says(res->rc));
	else
		return false;
	return true;
}

/*
 * What the store answered to C's question for its task: NULL and *ROW; or the
 * run, if it was taken over meanwhile; or neither, and C needs no more.
 */
static struct run *looked_up(struct request *c, const struct store_result *res,
			     const struct store_run **row)
{
	struct run *r;

	*row = NULL;
	if (!request_unref(c))
		return NULL;
	r = live(c, json_member_str(c->msg.params, "taskId"));
	if (r == NULL && !none(c, res))
		*row = &res->runs[0];
	return r;
}

/* ---- tasks/get ---- */

static void show(struct request *c, struct run *r)
{
	request_result(c, task_json_make(r));
	input_task_known(r);
}

static void show_row(struct request *c, const struct remote_run_reply *end)
{
	struct store_run row;

	if (none(c, end->res))
		return;
	row = end->res->runs[0];
	if (end->silent != NULL) { /* what its owner has shown once is old */
		row.awaiting = false;
		row.task_note = NULL;
	}
	request_result(c, task_json_row(&row));
}

/* R, which is the task that C asks about, if it is one. */
static void if_task(struct request *c, struct run *r,
		    void (*serve)(struct request *c, struct run *r))
{
	if (r->durable && task_json_is_live(r))
		serve(c, r);
	else
		not_found(c);
}

static void show_ours(struct request *c, struct run *r)
{
	if_task(c, r, show);
}

void tasks_get(struct request *c)
{
	const char *id = id_of(c);
	struct run *r;

	if (id == NULL)
		return;
	r = live(c, id);
	if (r != NULL) {
		requestor_polled(r->requestor, &r->polled_ms,
				 task_json_poll_ms(r));
		show(c, r);
		return;
	}
	remote_run_ask(
	    c, &(struct remote_run_query){.want = REMOTE_RUN_TASK,
					  .id = id,
					  .done = show_row,
					  .ours = show_ours,
					  .fits = task_json_row_is_live});
}

/* ---- tasks/result ---- */

struct wait {			/* request.state */
	struct run_watch watch; /* on run */
	struct run *run;	/* NULL: it is not watched */
	struct request *request;
};

static void unwatch(struct wait *w)
{
	if (w->run != NULL)
		run_watch_del(&w->watch);
	w->run = NULL;
	run_waiter_del(&w->request->waiter);
}

static void wait_free(void *state)
{
	unwatch(state);
	free(state);
}

static const struct request_ops wait_ops = {.free = wait_free};

static void retrieved(const struct request *c)
{
	audit_task("task_result_retrieved", c->session->requestor,
		   json_member_str(c->msg.params, "taskId"), NULL);
}

static void cancelled(struct request *c)
{
	struct json_object *data = json_object_new_object();
	const char *id = json_member_str(c->msg.params, "taskId");

	retrieved(c);
	json_add(data, "errorCode:s runId:s", "RUN_CANCELED", id);
	request_error(c, RPC_INTERNAL_ERROR, data, "Task was cancelled");
}

/* The task is over and recorded: what its call would have been answered. */
static void give(struct request *c, const struct run_result_source *a)
{
	if (a->status == STORE_CANCELED) {
		cancelled(c);
		return;
	}
	retrieved(c);
	run_response_send_task(c, a);
}

static void look_for_result(evutil_socket_t fd, short what, void *arg);

static void on_notice(struct run_watch *watch, struct run *r,
		      const struct run_notice *n)
{
	struct wait *w = CONTAINER(watch, struct wait, watch);
	bool asked_to_end = task_json_status(r) == TASK_CANCELLED;

	if (n->kind != NOTICE_RECORDED &&
	    !(n->kind == NOTICE_STATE && asked_to_end))
		return;
	unwatch(w);
	if (asked_to_end)
		cancelled(w->request);
	else if (n->unrecorded != NULL)
		request_error(w->request, RPC_INTERNAL_ERROR, NULL,
			      "the task has ended, but its outcome cannot be "
			      "recorded: %s",
			      n->unrecorded);
	else if (!request_backlogged(w->request, look_for_result))
		give(w->request, &(struct run_result_source){
				     .id = r->id,
				     .status = run_stored_status(r),
				     .form = task_json_form(r),
				     .promised = run_response_has_schema(
					 w->request, r->template->id),
				     .view = r->view});
}

static void wait_for(struct request *c, struct run *r)
{
	struct wait *w = c->state;

	if (task_json_status(r) == TASK_CANCELLED) {
		cancelled(c);
		return;
	}
	w->run = r;
	w->watch.on_notice = on_notice;
	run_watch_add(r, &w->watch);
	run_waiter_add(r, &c->waiter);
}

static void give_row(struct request *c, const struct store_run *row)
{
	struct json_object *made = row->view == NULL ? run_json_row(row) : NULL;

	give(c, &(struct run_result_source){
		    .id = row->id,
		    .status = row->status,
		    .form = row->task,
		    .promised = run_response_has_schema(c, row->template_id),
		    .view = made == NULL ? row->view : json_text(made, NULL)});
	json_object_put(made);
}

static void on_result(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	const struct store_run *row;
	struct run *r = looked_up(c, res, &row);

	if (r != NULL)
		wait_for(c, r);
	else if (row == NULL)
		return;
	else if (task_json_row_status(row) == TASK_CANCELLED)
		cancelled(c);
	else if (task_json_is_over(task_json_row_status(row)))
		give_row(c, row);
	else {
		remote_run_owner_died(c->ctx, row);
		request_set_timer(c, REMOTE_RUN_POLL_MS, look_for_result);
	}
}

static void look_for_result(evutil_socket_t fd, short what, void *arg)
{
	struct request *c = arg;

	(void)fd, (void)what;
	if (request_backlogged(c, look_for_result))
		return;
	request_ref_large(c);
	store_get_run(c->session->ctx->store, c->session->requestor->name,
		      json_member_str(c->msg.params, "taskId"), on_result, c);
}

void tasks_result(struct request *c)
{
	const char *id = id_of(c);
	struct wait *w;
	struct run *r;

	if (id == NULL)
		return;
	w = xcalloc(1, sizeof(*w));
	w->request = c;
	request_set_state(c, &wait_ops, w);
	r = live(c, id);
	if (r != NULL)
		wait_for(c, r);
	else
		look_for_result(-1, 0, c);
}

/* ---- tasks/list ---- */

static void on_list(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	struct json_object *list, *result;

	if (!request_unref(c))
		return;
	if (res->rc != 0) {
		request_error(c, RPC_INTERNAL_ERROR, NULL,
			      "the store cannot be read now: %s",
			      store_says(res->rc));
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < res->n_runs && i < TASKS_PAGE; i++) {
		struct run *r = live(c, res->runs[i].id);

		json_object_array_add(list, r != NULL
						? task_json_make(r)
						: task_json_row(&res->runs[i]));
	}
	result = json_pack("tasks:o", list);
	if (res->n_runs > TASKS_PAGE)
		pagination_write_cursor(result, res->runs[TASKS_PAGE - 1].id);
	request_result(c, result);
}

void tasks_list(struct request *c)
{
	const struct requestor *q = c->session->requestor;
	struct context *ctx = c->session->ctx;
	char before[PAGINATION_WHERE_MAX + 1];

	if (requestor_is_anonymous(q)) {
		request_error(
		    c, RPC_METHOD_NOT_FOUND, NULL,
		    "tasks/list is not for callers without a name, since "
		    "it would show one the tasks of another; the "
		    "operator can give you a token");
		return;
	}
	if (!pagination_read_cursor(c, before))
		return;
	if (before[0] == '\0') {
		snprintf(before, sizeof(before), "%s", ID_AFTER_ALL);
	} else if (!id_ok(before, "run")) {
		pagination_refuse_cursor(c);
		return;
	}
	request_ref(c);
	store_list_tasks(ctx->store, q->name, before, clock_wall_ms(),
			 TASKS_PAGE + 1, on_list, c);
}

/* ---- tasks/cancel ---- */

static void is_over(struct request *c, enum task_json_status status)
{
	request_error(c, RPC_INVALID_PARAMS, NULL,
		      "this task has ended already: it is %s",
		      task_json_status_name(status));
}

static void state_put(void *state)
{
	json_object_put(state);
}

static const struct request_ops canceled_ops = {.free = state_put};

/* What was written before this was read is durable, if anything can be. */
static void on_cancelled(void *arg, const struct store_result *res)
{
	struct request *c = arg;

	(void)res;
	if (request_unref(c))
		request_result(c, json_object_get(c->state));
}

static void cancel_live(struct request *c, struct run *r)
{
	struct context *ctx = c->session->ctx;

	if (task_json_is_over(task_json_status(r))) {
		is_over(c, task_json_status(r));
		return;
	}
	audit_task("task_cancel_asked", c->session->requestor, r->id, NULL);
	runs_cancel(ctx->runs, r);
	request_set_state(c, &canceled_ops, task_json_make(r));
	request_ref(c);
	store_get_task(ctx->store, c->session->requestor->name, r->id,
		       on_cancelled, c);
}

static void cancel_row(struct request *c, const struct remote_run_reply *end)
{
	const struct store_run *row = end->res->runs;

	if (end->res->rc != 0 && end->silent != NULL)
		request_error(c, RPC_INTERNAL_ERROR, NULL,
			      "the task was not cancelled: %s", end->silent);
	else if (none(c, end->res))
		return;
	else if (end->silent != NULL)
		request_error(
		    c, RPC_INTERNAL_ERROR, NULL,
		    "another server has this task and does not answer "
		    "now; it cancels the task as soon as it can");
	else if (!end->asked || task_json_row_status(row) != TASK_CANCELLED)
		is_over(c, task_json_row_status(row));
	else
		request_result(c, task_json_row(row));
}

static void cancel_ours(struct request *c, struct run *r)
{
	if_task(c, r, cancel_live);
}

void tasks_cancel(struct request *c)
{
	const char *id = id_of(c);
	struct run *r;

	if (id == NULL)
		return;
	r = live(c, id);
	if (r != NULL) {
		cancel_live(c, r);
		return;
	}
	remote_run_ask(
	    c, &(struct remote_run_query){.want = REMOTE_RUN_CANCEL,
					  .id = id,
					  .done = cancel_row,
					  .ours = cancel_ours,
					  .fits = task_json_row_is_live});
}

/* ---- what is declared ---- */

static struct json_object *with(const char *key, struct json_object *value)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, key, value);
	return o;
}

struct json_object *tasks_capability(const struct requestor *requestor)
{
	struct json_object *o = json_object_new_object();

	if (!requestor_is_anonymous(requestor))
		json_add(o, "list:o", json_object_new_object());
	json_add(o, "cancel:o requests:o", json_object_new_object(),
		 with("tools", with("call", json_object_new_object())));
	return o;
}
