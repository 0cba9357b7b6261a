/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.h - work on data of others that may take longer than the loop can
 * be away: it is done on one of a few threads, with a deadline, in turns.
 *
 * A job belongs to a requestor. One job of a requestor's is done at a time, in
 * the order in which they came, and after it all others have their turn: what
 * one asks for delays another by a job at the most, and a job ends at its
 * deadline. What it costs is charged to cpu_seconds_per_hour.
 *
 * Who owns what: ARG is the job's from thread_pool_submit() on until drop() gets
 * it back, and so is all that work() reaches by it. In between the loop
 * touches none of it; above all no json-c tree, whose references are counted
 * without a lock: not even json_object_get(). A schema or another thing that
 * nobody changes may be shared, when ARG holds a reference that drop() lets go.
 *
 * All but work() and thread_pool_may_continue() is called on the loop's thread alone.
 */
#ifndef SUPERVISOR_THREADS_THREAD_POOL_H
#define SUPERVISOR_THREADS_THREAD_POOL_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_POOL_THREADS 2	/* as a rule; tests have other numbers */
#define THREAD_POOL_JOBS_MAX 64 /* of one requestor's, waiting or not */

struct thread_pool;
struct thread_pool_job;
struct requestor;

struct thread_pool_result {
	bool overdue;	/* it was told to stop, for its time was up */
	int64_t cpu_us; /* that it took */
};

struct thread_pool_kind {
	const char *name;
	int64_t cpu_ms; /* the deadline: CPU time, whatever else runs here */
	/*
	 * On a thread. Asks thread_pool_may_continue() at least each millisecond, and
	 * returns soon when it says no. What came of it is put into ARG.
	 */
	void (*work)(struct thread_pool_job *j, void *arg);
	/* On the loop, once, when work() has returned; not once cancelled. */
	void (*done)(void *arg, const struct thread_pool_result *end);
	/* On the loop, always once, and last: ARG is given back. */
	void (*drop)(void *arg);
};

/* BASE is lent. Threads are begun when there is a first job. */
struct thread_pool *thread_pool_new(struct event_base *base, size_t threads);
/* Cancels all, waits for what is being done, drops it. NULL is fine. */
void thread_pool_free(struct thread_pool *o);

/*
 * Have KIND (lent for good) done with ARG, for Q (lent as long as O; NULL:
 * the server itself). The job, which is good until its done() is called or it
 * is cancelled. NULL: Q has THREAD_POOL_JOBS_MAX already, or there is no thread;
 * ARG stays the caller's.
 */
struct thread_pool_job *thread_pool_submit(struct thread_pool *o,
					   struct requestor *q,
					   const struct thread_pool_kind *kind,
					   void *arg);
/* Would one more of Q's be taken? */
bool thread_pool_has_room(struct thread_pool *o, struct requestor *q);
/*
 * Nobody waits for J any more: done() is not called. drop() is: at once when
 * J has not begun, else when work() has returned.
 */
void thread_pool_cancel(struct thread_pool_job *j);

/* May J's work() go on? No once it is cancelled, or past its deadline. */
bool thread_pool_may_continue(struct thread_pool_job *j);

/* What there is and was, for the log and for tests. */
struct thread_pool_stats {
	size_t jobs;	  /* that wait or are being done */
	uint64_t done;	  /* all that ended, but for the cancelled */
	uint64_t overdue; /* of these */
	uint64_t full;	  /* refused, since their requestor had too many */
	int64_t cpu_us;	  /* of all */
};

void thread_pool_stats(const struct thread_pool *o,
		       struct thread_pool_stats *n);
void thread_pool_log(const struct thread_pool *o); /* a line of the log */
size_t
thread_pool_jobs(const struct thread_pool *o); /* that wait or are being done */

#endif
