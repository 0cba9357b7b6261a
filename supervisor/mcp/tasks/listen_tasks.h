/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_tasks.h - the tasks of a listening request: notifications/tasks is
 * sent when a task has changed, and for the last time when the task has ended.
 */
#ifndef SUPERVISOR_TASKS_LISTEN_TASKS_H
#define SUPERVISOR_TASKS_LISTEN_TASKS_H

#include "supervisor/session/request.h"

/* least time between two notifications of a task */
#define LISTEN_TASKS_EVERY_MS 100

struct listen_tasks; /* opaque */

/*
 * Make the tasks of REQ. DUE is called when a notification may be due: soon, or
 * NOW, while the run can still be read. REQ is held while a task is read or made;
 * no callback is called after REQ was dropped, and then the tasks have to be
 * freed.
 */
typedef void (*listen_tasks_due)(struct request *req, bool now);
struct listen_tasks *listen_tasks_new(struct request *req,
				      listen_tasks_due due);
void listen_tasks_free(struct listen_tasks *all); /* NULL is fine */

/* Call DONE, now or later: is ID (*lent* until then) a task which REQ may see? */
void listen_tasks_add(struct listen_tasks *all, const char *id,
		      void (*done)(struct request *req, bool found));

/* Is there a task which goes on, or whose end was not sent yet? */
bool listen_tasks_any(const struct listen_tasks *all);
/* Return the ms until a notification is due; 0: now; -1: no notification. */
int64_t listen_tasks_wait_ms(const struct listen_tasks *all);
/* Send the notification which is due: REQ's client reads. */
void listen_tasks_tell(struct listen_tasks *all);

#endif
