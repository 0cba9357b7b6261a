/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_notify.h - what the session that made a task is told of it unasked:
 * progress by the token of its request, and each change of its status.
 */
#ifndef SUPERVISOR_SESSION_TASK_NOTIFY_H
#define SUPERVISOR_SESSION_TASK_NOTIFY_H

#include "supervisor/session/session.h"

struct task_notify;

/*
 * R's CreateTaskResult has just left for S: tell S from now on, until the
 * task is over or has expired, or S ends. TOKEN (lent) may be NULL.
 */
void task_notify_start(struct session *s, struct run *r,
		       struct json_object *token);

/*
 * The session that made task R, once it has its CreateTaskResult; NULL before
 * that, when it is gone, and when the task is over. Borrowed.
 */
struct session *task_notify_session(const struct run *r);

#endif
