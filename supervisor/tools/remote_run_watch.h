/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_run_watch.h - told when a run that another instance has changes: looked
 * for once a second, since its owner shows it no more often, and once for all
 * who watch it: a requestor's subscriptions may be hundreds of thousands.
 */
#ifndef SUPERVISOR_TOOLS_REMOTE_RUN_WATCH_H
#define SUPERVISOR_TOOLS_REMOTE_RUN_WATCH_H

#include "supervisor/context.h"
#include "supervisor/store/store.h"

struct run;

struct remote_run_watch; /* opaque */

enum remote_run_event {
	REMOTE_RUN_CHANGED, /* more may come */
	REMOTE_RUN_OVER,    /* it has ended, or is forgotten: the last */
	REMOTE_RUN_OURS,    /* R is the run, ours now: the last */
};

struct remote_run_watcher {
	struct context *ctx;
	const struct requestor *requestor; /* all lent, and outlive the watch */
	char run_id[ID_SIZE];
	enum store_mail kind; /* STORE_MAIL_WATCH: state and progress; _LOG */
	/* It may not free the watch. R: REMOTE_RUN_OURS's. */
	void (*on_event)(void *arg, enum remote_run_event ev, struct run *r);
	void *arg;
};

/* Of a run whose row is ROW now. Copies W. */
struct remote_run_watch *
remote_run_watch_new(const struct remote_run_watcher *w,
		     const struct store_run *row);
void remote_run_watch_free(struct remote_run_watch *w); /* NULL is fine */

#endif
