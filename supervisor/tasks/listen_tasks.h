/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_tasks.h - the tasks that one request listens to: each is told of by
 * notifications/tasks when it has changed, and for the last time when it has ended.
 */
#ifndef SUPERVISOR_TASKS_LISTEN_TASKS_H
#define SUPERVISOR_TASKS_LISTEN_TASKS_H

#include "supervisor/session/request.h"

#define LISTEN_TASKS_EVERY_MS 100 /* no more often is one told of */

struct listen_tasks; /* opaque */

/*
 * C's: DUE is called when something may be to be told, soon, or NOW, which is when
 * it can still be told from its run. C is held while a task is looked for or shown,
 * and neither DUE nor another callback is called once C is dropped: then, at the
 * latest, they are to be freed.
 */
typedef void (*listen_tasks_due)(struct request *c, bool now);
struct listen_tasks *listen_tasks_new(struct request *c, listen_tasks_due due);
void listen_tasks_free(struct listen_tasks *all); /* NULL is fine */

/* DONE, now or later: is ID (lent until then) a task that C may know? */
void listen_tasks_add(struct listen_tasks *all, const char *id,
		      void (*done)(struct request *c, bool found));

/* Is one there that goes on, or whose end is not told yet? */
bool listen_tasks_any(const struct listen_tasks *all);
/* How long until one is to be told of; 0: it is now; -1: none is. */
int64_t listen_tasks_wait_ms(const struct listen_tasks *all);
/* Tell of the one whose turn it is: C's client reads. */
void listen_tasks_tell(struct listen_tasks *all);

#endif
