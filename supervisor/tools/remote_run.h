/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_run.h - a run that this instance does not have: another on the same
 * state has it, or it is over. What a call wants of it, it gets by the store:
 * its row, what its owner shows of it, or that its owner ends it.
 */
#ifndef SUPERVISOR_TOOLS_REMOTE_RUN_H
#define SUPERVISOR_TOOLS_REMOTE_RUN_H

#include "supervisor/session/request.h"

#define REMOTE_RUN_WATCH_MS                                                    \
	5000 /* an owner shows it so long after each request */
#define REMOTE_RUN_RENEW_MS 2500 /* asked again when there is less of it left */

enum remote_run_want {
	REMOTE_RUN_TASK,   /* the row alone, with what is new */
	REMOTE_RUN_VIEW,   /* the whole row */
	REMOTE_RUN_LOG,	   /* with its log */
	REMOTE_RUN_CANCEL, /* it is to end; the row alone */
};

struct remote_run_reply {
	const struct store_result *res; /* of store_get_run(), or _get_task() */
	bool asked;			/* its owner was asked */
	const char *silent; /* why what is shown is old, or nothing: its owner
			       does not answer, or cannot be asked; or NULL */
	bool died; /* its owner was found dead; it has been seen to since */
};

/* All but WANT, ID and DONE may be NULL; ID is copied. */
struct remote_run_query {
	enum remote_run_want want;
	const char *id;
	/* C, which is not held, is to be answered. */
	void (*done)(struct request *c, const struct remote_run_reply *end);
	/* Likewise: R has come to be ours meanwhile, and END is not called. */
	void (*ours)(struct request *c, struct run *r);
	/* Is the owner to be asked about ROW at all? Else DONE. */
	bool (*fits)(const struct store_run *row);
};

/*
 * Find out for C what ASK says, in a moment, or at the latest when the owner
 * has had time enough. C's state is in use until then.
 */
void remote_run_ask(struct request *c, const struct remote_run_query *ask);

/*
 * The owner of an open ROW seems to be dead (ROW.owner): see to it. True: it
 * is being taken over, and worth another look in a moment.
 */
bool remote_run_owner_died(struct context *ctx, const struct store_run *row);

#endif
