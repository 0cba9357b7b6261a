/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_core.h - the table of open runs, and the functions that supervisor/cluster/ needs
 * to give runs to other servers and to take runs from them. The other functions which
 * the files of exec/ share are in runs_private.h.
 */
#ifndef SUPERVISOR_EXEC_RUNS_CORE_H
#define SUPERVISOR_EXEC_RUNS_CORE_H

#include "supervisor/context.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/requestor/sched.h"

struct artifact_copies;
struct cluster_state; /* of supervisor/cluster/ */
struct runs_remote;   /* runs_remote.c */

struct runs {
	struct context *ctx;
	const struct runs_ops *ops;
	struct runs_remote *mail;
	struct cluster_state *cluster; /* NULL: this machine is alone */
	struct worker_env workers;
	bool leaving; /* taken for dead: no run is made until all have ended */
	struct artifact_copies *copies; /* runs_queue.c */
	bool recovering; /* a take-over is under way, or due again */
	struct run *by_id;
	struct sched sched;
	/* pending: no worker of that runtime could be started */
	struct event *pause[RUNTIMES];
	size_t parked;	     /* runs that wait for answers without a client */
	size_t stopped;	     /* parked runs without a place in SCHED */
	size_t unlisted;     /* requestors without a section that made runs */
	size_t awaited;	     /* rows whose commit a caller waits for */
	size_t unrecorded;   /* bytes of views on their way to the disk */
	struct {	     /* runs_output.c's: large results, as trees */
		size_t held; /* bytes of memory of the trees */
		TAILQ_HEAD(, reading) waiting; /* for room, the oldest first */
		struct event *on_room;
	} trees;
};

/* ---- runs.c ---- */

/* A reference to a run that may be freed before the reference is used. */
struct run_ref {
	struct runs *runs;
	char id[ID_SIZE];
};

struct run_ref *runs_refer(struct runs *s, const struct run *r);
/* Return the run of REF, or NULL, and free REF. */
struct run *runs_referred(struct run_ref *ref);
struct run *runs_by_id(const struct runs *s, const char *id); /* NULL: none */

/* ---- runs_recover.c ---- */

/*
 * Make the waiting run of ROW, which was another instance's, a run of this instance:
 * queued, resting before the next attempt, or ended when no attempt is left. NULL:
 * this server does not serve the run, or the row lacks inputs.
 */
struct run *runs_revive(struct runs *s, const struct store_run *row);
/* Do the same with R, which is queued and has the attempts of R's row. */
void runs_revived(struct runs *s, struct run *r);

/* ---- runs_queue.c ---- */

void runs_enqueue(struct runs *s, struct run *r);
/*
 * R has ended, or is no more here: the next run of R's resident, which has waited for R, is
 * queued.
 */
void runs_leave_resident(struct runs *s, struct run *r);
/* May one more run start? */
bool runs_can_start(struct runs *s);
void runs_files_over(struct runs *s, struct run *r); /* R has ended */

/* ---- runs_output.c ---- */

/* Stop waiting for R's output, and cancel the check. */
void runs_output_drop(struct runs *s, struct run *r);

/* ---- runs_finish.c ---- */

/*
 * End R by EV: steps, view, row; NOTICE_RECORDED follows. If R has a worker, which is
 * leaving, the row waits for runs_finish_gone() with the worker's USED resources.
 */
void runs_finish(struct runs *s, struct run *r, enum run_event ev);
void runs_forget(struct runs *s, struct run *r);

/* ---- runs_retry.c ---- */

/*
 * Is R, which has lost its worker by the error in R, tried again? Then R is queued once
 * more, with a row, after a pause, or for the next server.
 */
bool runs_retry(struct runs *s, struct run *r);
/* Stop a rest of R before the next attempt, if R rests. */
void runs_retry_forget(struct runs *s, struct run *r);
/* Does R rest until the next attempt here? */
bool runs_retry_rests(const struct run *r);

#endif
