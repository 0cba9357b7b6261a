/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_notify.h - notifications for the session which made a task: progress by
 * the token of its request, and changes of the status.
 */
#ifndef SUPERVISOR_SESSION_TASK_NOTIFY_H
#define SUPERVISOR_SESSION_TASK_NOTIFY_H

#include "supervisor/session/session.h"

struct task_notify;

/*
 * Begin notifications to S: R's CreateTaskResult was sent to S. They end when
 * the task ends or expires, or S ends. TOKEN (*lent*) may be NULL.
 */
void task_notify_start(struct session *s, struct run *r,
		       struct json_object *token);

/*
 * Return the session which made task R and has its CreateTaskResult, borrowed.
 * NULL: not yet sent, session gone, or task over.
 */
struct session *task_notify_session(const struct run *r);

#endif
