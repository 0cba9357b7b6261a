/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_lookup.h - finds the task named by a request, for tasks.c and
 * tasks_extension.c.
 */
#ifndef SUPERVISOR_TASKS_TASK_LOOKUP_H
#define SUPERVISOR_TASKS_TASK_LOOKUP_H

#include "supervisor/session/result/run_result.h"
#include "supervisor/session/request.h"
#include "supervisor/mcp/tools/run_lookup.h"

/* Return params.taskId, borrowed; NULL: missing, and REQ was answered. */
const char *task_lookup_id(struct request *req);

/* Is R a task which its requestor may see? */
bool task_lookup_is_task(const struct run *r);

/* Answer REQ if F is no living task of REQ's requestor. Returns whether so. */
bool task_lookup_missing(struct request *req, const struct run_found *f);

/*
 * Return the source for the result of ROW, which has ended and was read whole;
 * valid as long as ROW and *MADE, which the caller owns.
 */
struct run_result_source task_lookup_source(const struct request *req,
					    const struct store_run *row,
					    struct json_object **made);

/*
 * Return the source for the result of R, which is recorded; valid as long as R.
 */
struct run_result_source task_lookup_source_live(const struct request *req,
						 const struct run *r);

/*
 * Return the questions for REQ's client in ROW, which another server has: the caller's, as
 * of input_requests(); or NULL.
 */
struct json_object *task_lookup_questions(const struct request *req,
					  const struct store_run *row);

/* Answer REQ if N says that the end cannot be recorded. Returns whether so. */
bool task_lookup_unrecorded(struct request *req, const struct run_notice *n);

/* As task_lookup_missing(), for a request to cancel F. */
bool task_lookup_not_cancelled(struct request *req, const struct run_found *f);

/* Answer REQ: the task's server is silent, but the row tells it to cancel. */
void task_lookup_cancels_late(struct request *req);

/* Log to the audit log that REQ's client reads the result of the task. */
void task_lookup_retrieved(const struct request *req);

#endif
