/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_run.h - a run where several instances share a queue: the owner of the run, and
 * news of a run of another instance. supervisor/cluster/ keeps the members; on one
 * machine all are zero.
 */
#ifndef SUPERVISOR_RUN_REMOTE_RUN_H
#define SUPERVISOR_RUN_REMOTE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/id.h"

struct json_object;
struct proxied_request;
struct remote_waiters;
struct run;

/* The instance that has the run. */
enum run_place {
	RUN_HERE,   /* the instance of this process */
	RUN_QUEUE,  /* the queue of all instances */
	RUN_REMOTE, /* an instance of another process: the row has the view */
};

struct remote_run {
	enum run_place place;
	bool pinned; /* no other instance can start the run */
	/*
	 * owned: the error {errorCode, message} of a run for other instances alone, in case
	 * no instance starts the run; NULL: the run may start here
	 */
	struct json_object *lack;
	bool asks_here; /* pinned: the waiter here may be asked */
	bool cancel;	/* cancelling was asked for, at any place */
	bool looked;	/* the row is being read */
	bool fenced;	/* the lease ended, and so the worker */
	bool unheard;	/* the store sends no news: read the row */
	bool disowned;	/* the store refused the end here */
	/* Only visiting clients need the run; the last came at VISIT_MS. */
	bool visited;
	int64_t visit_ms; /* mono */
	int64_t look_ms;  /* mono: the row was last read */
	/* the number of the last view that watchers were told of */
	int64_t seq;
	size_t log_len;
	int64_t most;  /* store_run.queued_most, until a row is durable */
	int64_t vtime; /* the turn in the queue; 0: none yet */
	/* the other instance that queued the run; or "" */
	char home[ID_SIZE];
	TAILQ_ENTRY(run) link; /* in runs.abroad, for RUN_REMOTE */
	/* requests here that wait for the run at its server, too */
	LIST_HEAD(proxied_requests, proxied_request) proxied;
	struct remote_waiters *waiters; /* at other servers, or NULL */
	size_t n_waiting;		/* of WAITERS */
	/* owned: the last of WAITERS whose round was heard; or NULL */
	struct json_object *heard;
	/* owned: keys of questions with an answer from here; or NULL */
	struct json_object *answered;
};

#endif
