/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_family.h - the run that called a run, and the runs that the run called. Rows and
 * views name the caller for good; pointers are there while both runs are open.
 */
#ifndef SUPERVISOR_RUN_RUN_FAMILY_H
#define SUPERVISOR_RUN_RUN_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/id.h"
#include "supervisor/run/run_journal.h"

struct buf;
struct json_object;
struct run;
struct run_child;
struct store_run;

#define RUN_CHILDREN_MAX                                                       \
	1000 /* children of a run, in all attempts at a server */
/* In the view of a run: the first children; for one that fails later a success leaves. */
#define RUN_CHILDREN_LISTED 100
#define RUN_FAMILY_STATES 9 /* as RUN_STATES */

struct run_family {
	struct run *parent; /* NULL: none, or one that is over */
	char *parent_id;    /* owned; NULL: a client called the run */
	/* the server of the caller, once the run is in the queue of all servers; or "" */
	char caller_at[ID_SIZE];
	/*
	 * The callers at other servers, as run_family_callers() gives them; owned. NULL:
	 * there are none.
	 */
	struct json_object *callers;
	unsigned depth;	    /* the number of callers above; 0: a client */
	bool allows_writes; /* the client's options.allowWrites */
	TAILQ_HEAD(, run) children; /* open children, the oldest first */
	TAILQ_ENTRY(run) link;	    /* in parent.children */
	size_t n_open;		    /* children now */
	size_t n_made;		    /* children in all attempts here */
	size_t n_dropped; /* open children whose answers nobody awaits */
	bool dropped;	  /* the run is one of the parent's N_DROPPED */
	/* of the attempt, by state; also children that had succeeded before */
	size_t n_ended[RUN_FAMILY_STATES];
	struct run_child *listed; /* of the view; owned */
	size_t n_listed;
	struct {
		char *id; /* owned; NULL: the run's own id */
		bool resumes;
		struct run_journal *calls;
	} journal;  /* run_journal.c's */
	bool lends; /* runs_family.c's: the children have the run's place */
};

/* Make R, a new run, a child of PARENT. */
void run_family_join(struct run *r, struct run *parent);
/* Return the run above R, or R, that a client called; lent. */
struct run *run_family_outermost(struct run *r);
/* The parent of R, an open child, awaits the answer of R no more. */
void run_family_drop(struct run *r);
/* R has ended: R is no open child any more. Without a parent nothing changes. */
void run_family_leave(struct run *r);
/*
 * Return the callers of R, the outermost first, as an array of {runId, templateId,
 * notebook}; the caller's. NULL: a client called R.
 */
struct json_object *run_family_callers(const struct run *r);
/*
 * Return the id of the caller of R, at another server, that has NOTEBOOK of the template;
 * lent. NULL: no such caller has.
 */
const char *run_family_holder(const struct run *r, const char *template_id,
			      const char *notebook);
/* A call of PARENT is answered by the child in ROW, which had succeeded before. */
void run_family_find(struct run *parent, const struct store_run *row);
/* R's attempt is over: the next one calls anew. R's open children have left. */
void run_family_start_over(struct run *r);
/*
 * Write parentRunId, depth, children, childrenTotal and unlistedChildren, as far as R has
 * them.
 */
void run_family_write(struct buf *out, const struct run *r);
void run_family_fini(struct run *r);

#endif
