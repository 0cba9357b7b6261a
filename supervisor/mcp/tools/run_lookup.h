/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_lookup.h - finds a run by its id, for a request: a local open run, or a
 * row. An open run in a row is remote, of another instance on the store: its
 * owner is asked by the store to show the run, or to end it.
 */
#ifndef SUPERVISOR_TOOLS_RUN_LOOKUP_H
#define SUPERVISOR_TOOLS_RUN_LOOKUP_H

#include "supervisor/session/request.h"

/* time for which an owner shows a run after a request */
#define RUN_LOOKUP_WATCH_MS 5000
#define RUN_LOOKUP_RENEW_MS 2500 /* remaining time at which to ask again */

enum run_lookup_want {
	RUN_LOOKUP_ROW,	  /* the row, without view and log */
	RUN_LOOKUP_WHOLE, /* the whole row, as it is */
	/* the row, fresh from the owner, without view and log */
	RUN_LOOKUP_TASK,
	RUN_LOOKUP_VIEW, /* the whole row, with a fresh view */
	RUN_LOOKUP_LOG,	 /* the whole row, with a fresh log */
	/* cancel a remote run; the row, without view and log */
	RUN_LOOKUP_CANCEL,
};

struct run_found {
	/* the run, local and not recorded as ended; or NULL */
	struct run *run;
	/* the row if RUN is NULL, or the failure */
	const struct store_result *res;
	bool asked; /* the owner of the run was asked */
	/*
	 * why the row is old: the owner does not answer, or cannot be asked; or
	 * NULL
	 */
	const char *silent;
	bool died; /* the owner was found dead, and recovery was begun */
};

struct run_query {
	enum run_lookup_want want;
	const char *id; /* *lent* */
	/* Answer REQ by F, which is *lent*. */
	void (*found)(struct request *req, const struct run_found *f);
	/* Should the owner be asked about ROW? NULL: yes. */
	bool (*fits)(const struct store_run *row);
};

/*
 * Look up a run for REQ, as Q says: at once if local, else within the owner's
 * time to answer. REQ's state is in use until then.
 */
void run_lookup(struct request *req, const struct run_query *q);

/* Return the local run ID of REQ's requestor, borrowed, or NULL. */
struct run *run_lookup_ours(const struct request *req, const char *id);

/*
 * A read of a run's row, without a request: FOUND gets the result, and R if the
 * run is local by then. The caller keeps L until FOUND is called.
 */
struct run_row_lookup {
	struct context *ctx;
	const struct requestor *requestor; /* *lent*, as is ID */
	const char *id;
	void (*found)(struct run_row_lookup *l, struct run *r,
		      const struct store_result *res);
};

void run_lookup_row(struct run_row_lookup *l, bool whole);

/*
 * Begin recovery if the owner of the open ROW is dead. True: read again soon.
 */
bool run_lookup_owner_died(struct context *ctx, const struct store_run *row);

#endif
