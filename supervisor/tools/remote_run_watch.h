/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_run_watch.h - told when a run that another instance has changes: looked
 * for once a second, since its owner shows it no more often, and once for all
 * who watch it: a requestor's subscriptions may be hundreds of thousands.
 */
#ifndef SUPERVISOR_TOOLS_REMOTE_RUN_WATCH_H
#define SUPERVISOR_TOOLS_REMOTE_RUN_WATCH_H

#include "supervisor/server.h"

struct elsewhere_watch; /* opaque */

enum elsewhere_news {
	ELSEWHERE_CHANGED, /* more may come */
	ELSEWHERE_OVER,	   /* it has ended, or is forgotten: the last */
	ELSEWHERE_OURS,	   /* R is the run, ours now: the last */
};

struct elsewhere_watcher {
	struct server *server;
	const struct requestor *requestor; /* all lent, and outlive the watch */
	char run_id[ID_SIZE];
	enum store_mail kind; /* STORE_MAIL_WATCH: state and progress; _LOG */
	/* It may not free the watch. R: ELSEWHERE_OURS's. */
	void (*on_news)(void *arg, enum elsewhere_news news, struct run *r);
	void *arg;
};

/* Of a run whose row is ROW now. Copies W. */
struct elsewhere_watch *elsewhere_watch_new(const struct elsewhere_watcher *w,
					    const struct store_run *row);
void elsewhere_watch_free(struct elsewhere_watch *w); /* NULL is fine */

#endif
