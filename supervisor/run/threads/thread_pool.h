/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.h - does work on untrusted data that may keep the loop away too
 * long: on one of a few threads, with a deadline, in turns.
 *
 * A job belongs to a requestor. One job of a requestor runs at a time, in the
 * order of arrival, and after each job the other requestors have their turns: a
 * requestor delays another by one job at the most, and a job ends at its
 * deadline. The CPU time is charged to cpu_seconds_per_hour. Jobs of the server
 * itself run likewise, one of a kind at a time.
 *
 * Ownership: ARG is the job's from thread_pool_submit() on until drop() gets it
 * back, with all objects that work() reaches through ARG. In between the loop
 * touches none of them, above all no json-c tree, whose references are counted
 * without a lock: not even json_object_get(). A schema or another object that
 * never changes may be shared, when ARG holds a reference for drop() to
 * release.
 *
 * All functions but work() and thread_pool_may_continue() are called on the
 * loop's thread alone.
 */
#ifndef SUPERVISOR_THREADS_THREAD_POOL_H
#define SUPERVISOR_THREADS_THREAD_POOL_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_POOL_THREADS 2	/* the usual number; tests have other numbers */
#define THREAD_POOL_JOBS_MAX 64 /* most jobs of one requestor */
#define THREAD_POOL_OWED_MAX                                                   \
	4096 /* most jobs of a requestor, of kinds that are bounded elsewhere */

struct thread_pool;
struct thread_pool_job;
struct requestor;

struct thread_pool_result {
	bool overdue;	/* the deadline has passed */
	int64_t cpu_us; /* CPU time of the job */
};

struct thread_pool_kind {
	const char *name;
	int64_t cpu_ms; /* the deadline: CPU time, whatever else runs here */
	/*
	 * Do the job, on a thread. Ask thread_pool_may_continue() at least each
	 * millisecond, and return soon when the answer is no. The result is put
	 * into ARG.
	 */
	void (*work)(struct thread_pool_job *j, void *arg);
	/* Called on the loop, once, when work() has returned; not for a
	   cancelled job. */
	void (*done)(void *arg, const struct thread_pool_result *end);
	/* Called on the loop, always once, and last: ARG is given back. */
	void (*drop)(void *arg);
	/*
	 * Work already begun would stay undone without this job. Something else
	 * bounds the number of such jobs, and they are counted apart, up to
	 * THREAD_POOL_OWED_MAX.
	 */
	bool owed;
	/* goes before other jobs, since it frees what they wait for */
	bool first;
};

/* Make a pool; BASE is lent. The first job begins the threads. */
struct thread_pool *thread_pool_new(struct event_base *base, size_t threads);
/* Cancel all jobs, wait for running work(), drop the jobs. NULL is fine. */
void thread_pool_free(struct thread_pool *o);

/*
 * Submit a job of KIND (lent for good) with ARG, for Q (lent as long as O;
 * NULL: the server itself). The job is valid until done() is called or the job
 * is cancelled. NULL: Q has as many jobs as allowed, or there is no thread; ARG
 * stays the caller's.
 */
struct thread_pool_job *thread_pool_submit(struct thread_pool *o,
					   struct requestor *q,
					   const struct thread_pool_kind *kind,
					   void *arg);
/* Would one more job of Q be taken? */
bool thread_pool_has_room(struct thread_pool *o, struct requestor *q);
/*
 * Cancel J: done() is not called. drop() is called: at once when J has not
 * begun, else when work() has returned.
 */
void thread_pool_cancel(struct thread_pool_job *j);

/* May J's work() go on? No once J is cancelled, or past the deadline. */
bool thread_pool_may_continue(struct thread_pool_job *j);

/* Counts of jobs, for the log and for tests. */
struct thread_pool_stats {
	size_t jobs;	  /* jobs that wait or run */
	uint64_t done;	  /* jobs that ended, without cancelled jobs */
	uint64_t overdue; /* jobs of DONE that were past the deadline */
	uint64_t full;	  /* jobs refused, since the requestor had too many */
	int64_t cpu_us;	  /* CPU time of all jobs */
};

void thread_pool_stats(const struct thread_pool *o,
		       struct thread_pool_stats *n);
/* writes a line of the log */
void thread_pool_log(const struct thread_pool *o);
/* counts waiting and running jobs */
size_t thread_pool_jobs(const struct thread_pool *o);

#endif
