/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_json.h - a run as a task, for tasks/get: by MCP 2025-11-25, and by the
 * Tasks extension of 2026-07-28.
 *
 * taskId is the run's id. A task ends by its ttl, even while its run goes on.
 */
#ifndef SUPERVISOR_RUN_RECORD_TASK_JSON_H
#define SUPERVISOR_RUN_RECORD_TASK_JSON_H

#include <json-c/json.h>
#include <stdbool.h>

#include "supervisor/run/run.h"
#include "supervisor/store/store.h"

#define TASK_NOTE_MAX 512 /* bytes of a statusMessage; more are cut */

enum task_json_status {
	TASK_WORKING,
	TASK_INPUT_REQUIRED,
	TASK_COMPLETED, /* from here on: terminal states */
	TASK_FAILED,
	TASK_CANCELLED,
	TASK_STATUSES
};

enum task_json_status task_json_status(const struct run *r);
enum task_json_status task_json_row_status(const struct store_run *row);
const char *task_json_status_name(enum task_json_status status);

/*
 * Returns the form of tasks/result's answer for R; for an ended R, how the
 * result was made.
 */
static inline enum store_task task_json_form(const struct run *r)
{
	return r->task.form == STORE_TASK_OUTPUT && r->output.is_reply &&
		       run_terminal(r)
		   ? STORE_TASK_REPLY
		   : r->task.form;
}

static inline bool task_json_is_over(enum task_json_status status)
{
	return status >= TASK_COMPLETED;
}

/* Is the run a live task by its row: within its ttl? */
bool task_json_is_live(const struct run *r);
bool task_json_row_is_live(const struct store_run *row);

/* Returns R's present pollInterval. */
int task_json_poll_ms(const struct run *r);
/*
 * Return the Task: {taskId, status, statusMessage?, createdAt, lastUpdatedAt,
 * ttl, pollInterval}. The caller owns it.
 */
struct json_object *task_json_make(const struct run *r);
struct json_object *task_json_row(const struct store_run *row);

/*
 * Returns the CreateTaskResult of R, whose row is durable. The status is
 * "working", as at a task's beginning, whatever R's state is now. NOTE (lent,
 * or NULL) is added to its text.
 */
struct json_object *task_json_created(const struct run *r, const char *note);

/*
 * Returns {"io.modelcontextprotocol/related-task": {"taskId": ID}}: the _meta
 * of messages of task ID, such as a request to the client. The caller owns it.
 */
struct json_object *task_json_related(const char *id);
/* Add the same member to META (lent), which may have other members. */
void task_json_add_related(struct json_object *meta, const char *id);

/*
 * Return the task by the extension: {taskId, status, statusMessage?, createdAt,
 * lastUpdatedAt, ttlMs, pollIntervalMs, inputRequests?}. There a failed run is
 * a completed task, and a run under cancellation still works. ASKS (taken): the
 * questions that the asking client can answer; NULL: none. The caller owns it.
 */
struct json_object *task_json_detailed(const struct run *r,
				       struct json_object *asks);
struct json_object *task_json_detailed_row(const struct store_run *row,
					   struct json_object *asks);
/*
 * Add the end to DETAILED, of a completed task: RESULT, or ERROR, which makes
 * it failed. Either is taken, the other is NULL.
 */
void task_json_add_end(struct json_object *detailed, struct json_object *result,
		       struct json_object *error);
/* Return the CreateTaskResult by the extension, as task_json_created(). */
struct json_object *task_json_started(const struct run *r, const char *note);
struct json_object *task_json_started_row(const struct store_run *row);

/* Returns R's statusMessage; NULL: none. The caller owns it. */
char *task_json_message(const struct run *r);

/*
 * Returns the outcome of R in words, for its row; NULL: R is no task, or has no
 * such words. The caller owns it.
 */
char *task_json_note(const struct run *r);

#endif
