/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_lookup.h - a run by its id, for a request: one of ours that goes on, or
 * its row. A run that is open there is another instance's, on the same state:
 * what is wanted of it comes by the store, too, as its owner shows it, or ends
 * it.
 */
#ifndef SUPERVISOR_TOOLS_RUN_LOOKUP_H
#define SUPERVISOR_TOOLS_RUN_LOOKUP_H

#include "supervisor/session/request.h"

/* an owner shows it so long after each request */
#define RUN_LOOKUP_WATCH_MS 5000
#define RUN_LOOKUP_RENEW_MS 2500 /* asked again when there is less of it left */

enum run_lookup_want {
	RUN_LOOKUP_ROW,	  /* as it is, without view and log */
	RUN_LOOKUP_WHOLE, /* as it is */
	RUN_LOOKUP_TASK, /* without view and log, but what its owner says now */
	RUN_LOOKUP_VIEW, /* with the view of now */
	RUN_LOOKUP_LOG,	 /* with the log of now */
	RUN_LOOKUP_CANCEL, /* it is to end, when it is another's; the row alone */
};

struct run_found {
	/* ours, which is not recorded as ended; or NULL, and… */
	struct run *run;
	const struct store_result *res; /* …its row, or why there is none */
	bool asked;			/* its owner was asked */
	const char *silent; /* why what is shown is old, or nothing: its owner
			       does not answer, or cannot be asked; or NULL */
	bool died; /* its owner was found dead; it has been seen to since */
};

struct run_query {
	enum run_lookup_want want;
	const char *id; /* lent */
	/* C is to be answered. */
	void (*found)(struct request *c, const struct run_found *f);
	/* Is the owner to be asked about ROW at all? NULL: it is. */
	bool (*fits)(const struct store_run *row);
};

/*
 * Look for C as Q says: at once when the run is ours, or in a moment, at the
 * latest when the owner has had time enough. C's state is in use until then.
 */
void run_lookup(struct request *c, const struct run_query *q);

/* Q's run alone, when it is ours; else NULL. Borrowed. */
struct run *run_lookup_ours(const struct request *c, const char *id);

/*
 * The row of a run alone, for who has no request: FOUND is called with it, and
 * with R, when the run is ours by then. L is in use until then.
 */
struct run_row_lookup {
	struct context *ctx;
	const struct requestor *requestor; /* lent, as ID is */
	const char *id;
	void (*found)(struct run_row_lookup *l, struct run *r,
		      const struct store_result *res);
};

void run_lookup_row(struct run_row_lookup *l, bool whole);

/*
 * The owner of an open ROW seems to be dead (ROW.owner): see to it. True: it
 * is being taken over, and worth another look in a moment.
 */
bool run_lookup_owner_died(struct context *ctx, const struct store_run *row);

#endif
