/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_lookup.c - finds the task named by a request of tasks/..., for tasks.c
 * and tasks_extension.c. Unknown, expired and other requestors' tasks are a
 * single error, so that a client does not learn which.
 */
#include "supervisor/mcp/tasks/task_lookup.h"

#include <errno.h>

#include "proto/json/json_pack.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/session/response.h"

const char *task_lookup_id(struct request *req)
{
	const char *id = json_member_str(req->msg.params, "taskId");

	if (id == NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "%s needs params.taskId, a string",
			      req->msg.method);
	return id;
}

bool task_lookup_is_task(const struct run *r)
{
	return run_is_durable(r) && task_json_is_live(r);
}

bool task_lookup_missing(struct request *req, const struct run_found *f)
{
	if (f->run != NULL
		? task_lookup_is_task(f->run)
		: f->res->rc == 0 && task_json_row_is_live(f->res->runs))
		return false;
	if (f->run == NULL && f->res->rc != 0 && f->res->rc != -ENOENT) {
		request_unreadable(req, f->res->rc);
		return true;
	}
	/*
	 * unknown, expired, another requestor's or no task at all: the client does not
	 * learn which
	 */
	requestor_missed(req->requestor);
	audit_refused(req->requestor, req->msg.method,
		      json_member_str(req->msg.params, "taskId"),
		      "TASK_NOT_FOUND");
	request_error(req, RPC_INVALID_PARAMS, NULL, "Task not found");
	return true;
}

struct run_result_source task_lookup_source(const struct request *req,
					    const struct store_run *row,
					    struct json_object **made)
{
	*made = row->view == NULL ? run_json_row(row) : NULL;
	return (struct run_result_source){
	    .id = row->id,
	    .status = row->status,
	    .form = row->task,
	    .promised = response_has_schema(req, row->template_id),
	    .view = *made == NULL ? row->view : json_text(*made, NULL)};
}

struct run_result_source task_lookup_source_live(const struct request *req,
						 const struct run *r)
{
	return (struct run_result_source){
	    .id = r->id,
	    .status = run_stored_status(r),
	    .form = task_json_form(r),
	    .promised = response_has_schema(req, r->template->id),
	    .view = r->view};
}

struct json_object *task_lookup_questions(const struct request *req,
					  const struct store_run *row)
{
	const struct cluster *cluster = req->ctx->cluster;

	return cluster != NULL ? cluster->questions(row, req->terms) : NULL;
}

bool task_lookup_unrecorded(struct request *req, const struct run_notice *n)
{
	if (n->unrecorded != NULL)
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "the task has ended, but its outcome cannot be "
			      "recorded: %s",
			      n->unrecorded);
	return n->unrecorded != NULL;
}

bool task_lookup_not_cancelled(struct request *req, const struct run_found *f)
{
	if (f->silent == NULL || f->res->rc == 0)
		return task_lookup_missing(req, f);
	request_error(req, RPC_INTERNAL_ERROR, NULL,
		      "the task was not cancelled: %s", f->silent);
	return true;
}

void task_lookup_cancels_late(struct request *req)
{
	request_error(req, RPC_INTERNAL_ERROR, NULL,
		      "another server has this task and does not answer "
		      "now; it cancels the task as soon as it can");
}

void task_lookup_retrieved(const struct request *req)
{
	audit_task("task_result_retrieved", req->requestor,
		   json_member_str(req->msg.params, "taskId"), NULL);
}
