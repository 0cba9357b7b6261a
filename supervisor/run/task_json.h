/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_json.h - a run as a task: what tasks/get says of it, in MCP 2025-11-25 and
 * by the Tasks extension of 2026-07-28.
 *
 * taskId is the run's id. A task ends by its ttl, whatever its run does.
 */
#ifndef SUPERVISOR_RUN_TASK_JSON_H
#define SUPERVISOR_RUN_TASK_JSON_H

#include <json-c/json.h>
#include <stdbool.h>

#include "supervisor/run/run.h"
#include "supervisor/store/store.h"

#define TASK_NOTE_MAX 512 /* bytes of a statusMessage; a longer one is cut */

enum task_json_status {
	TASK_WORKING,
	TASK_INPUT_REQUIRED,
	TASK_COMPLETED, /* from here on: terminal */
	TASK_FAILED,
	TASK_CANCELLED,
	TASK_STATUSES
};

enum task_json_status task_json_status(const struct run *r);
enum task_json_status task_json_row_status(const struct store_run *row);
const char *task_json_status_name(enum task_json_status status);

/* Whose answer tasks/result gives; now that R has ended, how it was made. */
enum store_task task_json_form(const struct run *r);

static inline bool task_json_is_over(enum task_json_status status)
{
	return status >= TASK_COMPLETED;
}

/* Is it a task, as its row says, whose time has not passed? */
bool task_json_is_live(const struct run *r);
bool task_json_row_is_live(const struct store_run *row);

/* R's pollInterval, as its view tells it now. */
int task_json_poll_ms(const struct run *r);
/* The Task: {taskId, status, statusMessage?, createdAt, …}. Caller owns it. */
struct json_object *task_json_make(const struct run *r);
struct json_object *task_json_row(const struct store_run *row);

/*
 * The CreateTaskResult of R, whose row is durable. It says "working", as a
 * task begins, whatever has become of R meanwhile. NOTE (lent, or NULL) is
 * told with it.
 */
struct json_object *task_json_created(const struct run *r, const char *note);

/*
 * {"io.modelcontextprotocol/related-task": {"taskId": ID}}: the _meta of what
 * belongs to task ID, such as a request to the client. Caller owns it.
 */
struct json_object *task_json_related(const char *id);
/* The same into META (lent), which may have other members. */
void task_json_add_related(struct json_object *meta, const char *id);

/*
 * The same by the extension: {taskId, status, statusMessage?, createdAt, …,
 * ttlMs, pollIntervalMs, inputRequests?}. To it a failed run is a completed task,
 * and one that is being cancelled still works. ASKS (taken) is what who looks can
 * answer; NULL: nothing.
 */
struct json_object *task_json_detailed(const struct run *r,
				       struct json_object *asks);
struct json_object *task_json_detailed_row(const struct store_run *row,
					   struct json_object *asks);
/*
 * DETAILED is of a completed task, which has this RESULT, or failed with ERROR;
 * either is taken, the other NULL.
 */
void task_json_add_end(struct json_object *detailed, struct json_object *result,
		       struct json_object *error);
/* Its CreateTaskResult, as task_json_created(). */
struct json_object *task_json_started(const struct run *r, const char *note);
struct json_object *task_json_started_row(const struct store_run *row);

/* Its statusMessage; NULL: there is none. The caller owns it. */
char *task_json_message(const struct run *r);

/* The outcome of R in words, for its row; NULL: no task, or there are none. */
char *task_json_note(const struct run *r);

#endif
