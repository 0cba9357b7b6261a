/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_lookup.h - the task that a request names, for tasks.c and
 * tasks_extension.c.
 */
#ifndef SUPERVISOR_TASKS_TASK_LOOKUP_H
#define SUPERVISOR_TASKS_TASK_LOOKUP_H

#include "supervisor/result/run_result.h"
#include "supervisor/session/request.h"
#include "supervisor/tools/run_lookup.h"

/* params.taskId, borrowed; NULL: C has been answered. */
const char *task_lookup_id(struct request *c);

/* Is R one that somebody may know? */
bool task_lookup_is_task(const struct run *r);

/* True: F is no living task of C's requestor, and C has been answered. */
bool task_lookup_missing(struct request *c, const struct run_found *f);

/*
 * What the result of ROW, which has ended and been read whole, is made of; good as
 * long as ROW and *MADE, which the caller owns, are.
 */
struct run_result_source task_lookup_source(const struct request *c,
					    const struct store_run *row,
					    struct json_object **made);

/* The same of R, which is recorded; good as long as R is. */
struct run_result_source task_lookup_source_live(const struct request *c,
						 const struct run *r);

/* True: N says that the end cannot be recorded, and C has been answered. */
bool task_lookup_unrecorded(struct request *c, const struct run_notice *n);

/* As task_lookup_missing(), for who asked that F be cancelled. */
bool task_lookup_not_cancelled(struct request *c, const struct run_found *f);

/* Answers C: the task's server is silent, but the row tells it to cancel. */
void task_lookup_cancels_late(struct request *c);

/* For the audit log: C's client reads the task's result. */
void task_lookup_retrieved(const struct request *c);

#endif
