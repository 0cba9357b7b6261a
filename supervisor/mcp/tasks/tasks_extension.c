/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks_extension.c - tasks/get, update and cancel of the Tasks extension;
 * methods.c calls it by its table. A request which does not declare the extension
 * is refused; unknown, expired and other requestors' tasks are a single error.
 */
#include "supervisor/mcp/tasks/tasks.h"

#include <errno.h>

#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/mcp/tasks/task_lookup.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/session/response.h"
#include "supervisor/session/request_backlog.h"

/* Return the id of the task which REQ names; NULL: REQ was answered. */
static const char *wanted_task_id(struct request *req)
{
	const char *id = task_lookup_id(req);

	if (id == NULL ||
	    mcp_declares(req->terms->capabilities, MCP_EXTENSION_TASKS))
		return id;
	request_error(req, RPC_MISSING_CAPABILITY,
		      mcp_missing_capability(MCP_EXTENSION_TASKS),
		      "%s is for clients that declare the extension "
		      "io.modelcontextprotocol/tasks in each request",
		      req->msg.method);
	return NULL;
}

static void acknowledge(struct request *req)
{
	request_result(req, json_object_new_object());
}

/* ---- tasks/get ---- */

static void give_detailed(struct request *req, struct json_object *task,
			  const struct run_result_source *a)
{
	task_lookup_retrieved(req);
	if (a->status == STORE_CANCELED)
		request_result(req, task);
	else
		response_task(req, task, a);
}

static void show_ours(struct request *req, struct run *r)
{
	requestor_polled(r->requestor, &r->job.polled_ms, task_json_poll_ms(r));
	request_result(req,
		       task_json_detailed(r, input_requests(r, req->terms)));
	input_task_known(r);
}

static void show_detailed(struct request *req, const struct run_found *f)
{
	struct run_result_source a;
	struct json_object *made;
	struct store_run row;

	if (task_lookup_missing(req, f))
		return;
	if (f->run != NULL) {
		show_ours(req, f->run);
		return;
	}
	row = f->res->runs[0];
	if (f->silent != NULL) /* the owner's last report is old */
		row.task_note = row.asked = NULL;
	if (row.status <= STORE_RUNNING) {
		request_result(req,
			       task_json_detailed_row(
				   &row, task_lookup_questions(req, &row)));
		return;
	}
	a = task_lookup_source(req, &row, &made);
	give_detailed(req, task_json_detailed_row(&row, NULL), &a);
	json_object_put(made);
}

static void look_at_task(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;

	(void)fd, (void)what;
	if (!request_backlog_holds(req, look_at_task))
		run_lookup(req,
			   &(struct run_query){
			       .want = RUN_LOOKUP_VIEW,
			       .id = json_member_str(req->msg.params, "taskId"),
			       .found = show_detailed,
			       .fits = task_json_row_is_live});
}

void tasks_extension_get(struct request *req)
{
	const char *id = wanted_task_id(req);
	struct run *r = id != NULL ? run_lookup_ours(req, id) : NULL;

	if (r != NULL && task_lookup_is_task(r))
		show_ours(req, r);
	else if (id != NULL)
		look_at_task(-1, 0, req);
}

/* ---- tasks/update ---- */

static bool has_objects_alone(struct json_object *all)
{
	json_object_object_foreach(all, key, value) {
		(void)key;
		if (!json_object_is_type(value, json_type_object))
			return false;
	}
	return true;
}

/* The answers were sent to the owner, or RC says why not. */
static void on_forwarded(struct request *req, int rc)
{
	if (rc == 0)
		acknowledge(req);
	else if (rc == -EOPNOTSUPP)
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "another server runs this task, and takes the "
			      "answers to what it asks: send them there");
	else
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "the answers cannot be given to the server that "
			      "runs this task now: %s",
			      store_says(rc));
}

/* Pass the answers on. An answer to no open question is not an error. */
static void update(struct request *req, const struct run_found *f)
{
	struct json_object *answers =
	    json_member(req->msg.params, "inputResponses");

	if (task_lookup_missing(req, f))
		return;
	if (f->run == NULL && f->res->runs->status <= STORE_RUNNING) {
		if (req->ctx->cluster != NULL)
			req->ctx->cluster->answer(req, f->res->runs->id,
						  answers, on_forwarded);
		else
			on_forwarded(req, -EOPNOTSUPP);
		return;
	}
	if (f->run != NULL)
		input_answer_keys(f->run, req->requestor, answers,
				  req->msg.bytes);
	acknowledge(req);
}

void tasks_extension_update(struct request *req)
{
	const char *id = wanted_task_id(req);
	struct json_object *all =
	    json_member(req->msg.params, "inputResponses");

	if (id == NULL)
		return;
	if (json_object_is_type(all, json_type_object) &&
	    has_objects_alone(all))
		run_lookup(req, &(struct run_query){.want = RUN_LOOKUP_ROW,
						    .id = id,
						    .found = update});
	else
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "tasks/update needs params.inputResponses, an object with "
		    "an object for each key of inputRequests that it answers");
}

/* ---- tasks/cancel ---- */

/*
 * Answer once the store has done this read, and so all earlier writes: the
 * cancel is durable, if anything can be.
 */
static void on_cancelled(void *arg, const struct store_result *res)
{
	struct request *req = arg;

	(void)res;
	if (request_unref(req))
		acknowledge(req);
}

static void cancel_cooperative(struct request *req, const struct run_found *f)
{
	struct run *r = f->run;

	if (task_lookup_not_cancelled(req, f))
		return;
	if (r != NULL && r->state != RUN_CANCELLING) {
		audit_task("task_cancel_asked", req->requestor, r->id, NULL);
		request_ref(req);
		runs_cancel(req->ctx->runs, r);
		store_get_task(req->ctx->store, req->requestor->name,
			       json_member_str(req->msg.params, "taskId"),
			       on_cancelled, req);
	} else if (r == NULL && f->silent != NULL) {
		task_lookup_cancels_late(req);
	} else {
		acknowledge(req);
	}
}

void tasks_extension_cancel(struct request *req)
{
	const char *id = wanted_task_id(req);

	if (id != NULL)
		run_lookup(req,
			   &(struct run_query){.want = RUN_LOOKUP_CANCEL,
					       .id = id,
					       .found = cancel_cooperative,
					       .fits = task_json_row_is_live});
}
