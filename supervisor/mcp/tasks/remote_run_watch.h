/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_run_watch.h - watches a remote run for changes: its row is read once a
 * second, since the owner shows a run no more often, and once for all watches:
 * a requestor may have hundreds of thousands of subscriptions.
 */
#ifndef SUPERVISOR_TASKS_REMOTE_RUN_WATCH_H
#define SUPERVISOR_TASKS_REMOTE_RUN_WATCH_H

#include "supervisor/context.h"
#include "supervisor/store/store.h"

struct run;

struct remote_run_watch; /* opaque */

enum remote_run_event {
	REMOTE_RUN_CHANGED, /* more events may come */
	REMOTE_RUN_OVER,    /* ended or deleted: the last event */
	REMOTE_RUN_OURS,    /* R is the run, here now: the last event */
};

struct remote_run_watcher {
	struct context *ctx;
	/* *lent*; outlives the watch, as CTX */
	const struct requestor *requestor;
	char run_id[ID_SIZE];
	/* STORE_MAIL_WATCH: state and progress; STORE_MAIL_LOG: the log */
	enum store_mail kind;
	/*
	 * Called for EV; may not free the watch. R is set with REMOTE_RUN_OURS.
	 */
	void (*on_event)(void *arg, enum remote_run_event ev, struct run *r);
	void *arg;
};

/* Watch the run whose row is ROW. *Copies* W. */
struct remote_run_watch *
remote_run_watch_new(const struct remote_run_watcher *w,
		     const struct store_run *row);
void remote_run_watch_free(struct remote_run_watch *w); /* NULL is fine */

#endif
