/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.c - runs jobs that would keep the loop away too long on threads.
 * Jobs wait in lanes, one for each requestor and one for each kind of the
 * server's own; lanes take turns in a ring. Modules that check, parse or list
 * untrusted data call the pool. A job that cannot be taken is refused to the
 * caller, and a job past its deadline is marked so.
 */
#include "supervisor/run/threads/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/requestor/requestor.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in lane_of() */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define STACK_BYTES ((size_t)8 << 20) /* as the loop's: JSON nests deep */
#define TOLD_AT_ONCE 16 /* calls of done() in one turn of the loop */
#define NICE 4		/* the loop goes first where CPUs are few */

enum job_state { JOB_WAITS, JOB_RUNS, JOB_OVER };

struct thread_pool_job {
	/* entry in lane.jobs, or in finished */
	TAILQ_ENTRY(thread_pool_job) link;
	const struct thread_pool_kind *kind;
	void *arg;
	struct thread_pool *o;
	struct lane *lane;
	enum job_state state;
	atomic_bool cancelled;
	int64_t until_us; /* the deadline, in the thread's CPU time */
	struct thread_pool_result end;
};

TAILQ_HEAD(jobs, thread_pool_job);

/*
 * The jobs of a requestor, or of the server for one kind; only the loop makes
 * and frees a lane.
 */
struct lane {
	const void *key; /* the lane's requestor, or its kind of job */
	struct requestor *who;
	struct jobs jobs; /* waiting jobs, the oldest first */
	bool busy;	  /* a thread does a job of this lane */
	size_t n;	  /* jobs of the lane, until dropped */
	size_t n_owed;	  /* jobs among N of kinds with a bound of their own */
	/* entry in ring, while the lane has jobs and is not busy */
	TAILQ_ENTRY(lane) link;
	UT_hash_handle hh;
};

struct thread {
	pthread_t id;
	struct thread_pool *o;
	struct thread_pool_job *job; /* the job being done, or NULL */
};

struct thread_pool {
	struct event_base *base;
	struct event *on_finished;
	int event_fd;
	struct lane *lanes;		/* lanes by key; the loop's alone */
	struct thread_pool_stats count; /* counts; the loop's alone */

	/* guards the members below, and all lanes and jobs */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	TAILQ_HEAD(, lane) ring; /* lanes in turn, the next first */
	struct jobs finished;
	bool stopping;

	size_t n_threads, n_begun;
	struct thread threads[];
};

static int64_t thread_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* ---- on a thread ---- */

bool thread_pool_may_continue(struct thread_pool_job *j)
{
	if (atomic_load_explicit(&j->cancelled, memory_order_relaxed))
		return false;
	if (thread_us() < j->until_us)
		return true;
	j->end.overdue = true;
	return false;
}

/*
 * Give LANE, which is not in the ring, a turn if there are jobs and none is
 * running. LOCK is held.
 */
static void queue_up(struct thread_pool *o, struct lane *lane)
{
	if (lane->busy || TAILQ_EMPTY(&lane->jobs))
		return;
	TAILQ_INSERT_TAIL(&o->ring, lane, link);
	pthread_cond_signal(&o->wake);
}

/*
 * Take the next job; the lane leaves the ring until the job is done. LOCK is
 * held.
 */
static struct thread_pool_job *take_job(struct thread_pool *o)
{
	struct lane *lane = TAILQ_FIRST(&o->ring);
	struct thread_pool_job *j;

	if (lane == NULL)
		return NULL;
	j = TAILQ_FIRST(&lane->jobs);
	TAILQ_REMOVE(&o->ring, lane, link);
	TAILQ_REMOVE(&lane->jobs, j, link);
	lane->busy = true;
	j->state = JOB_RUNS;
	return j;
}

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	struct thread_pool *o = t->o;
	struct thread_pool_job *j;
	int64_t began_us;

	/* affects this thread alone, on Linux */
	setpriority(PRIO_PROCESS, 0, NICE);
	pthread_mutex_lock(&o->lock);
	while (!o->stopping) {
		j = t->job = take_job(o);
		if (j == NULL) {
			pthread_cond_wait(&o->wake, &o->lock);
			continue;
		}
		pthread_mutex_unlock(&o->lock);
		began_us = thread_us();
		j->until_us = began_us + j->kind->cpu_ms * 1000;
		if (!atomic_load(&j->cancelled))
			j->kind->work(j, j->arg);
		j->end.cpu_us = thread_us() - began_us;
		pthread_mutex_lock(&o->lock);
		j->state = JOB_OVER;
		j->lane->busy = false;
		queue_up(o, j->lane);
		if (TAILQ_EMPTY(&o->finished))
			eventfd_write(o->event_fd, 1);
		TAILQ_INSERT_TAIL(&o->finished, j, link);
		t->job = NULL;
	}
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

/* ---- on the loop ---- */

static struct lane *lane_of(struct thread_pool *o, struct requestor *who,
			    const struct thread_pool_kind *kind)
{
	/* the server's own jobs delay no requestor, nor jobs of other kinds */
	const void *key = who != NULL ? (const void *)who : kind;
	struct lane *lane;

	HASH_FIND_PTR(o->lanes, &key, lane);
	if (lane != NULL)
		return lane;
	lane = xcalloc(1, sizeof(*lane));
	lane->key = key;
	lane->who = who;
	TAILQ_INIT(&lane->jobs);
	HASH_ADD_PTR(o->lanes, key, lane);
	return lane;
}

/* Drop J, which is in no list, for good. */
static void drop_job(struct thread_pool *o, struct thread_pool_job *j)
{
	struct lane *lane = j->lane;
	bool owed = j->kind->owed;

	j->kind->drop(j->arg);
	free(j);
	o->count.jobs--;
	lane->n_owed -= owed;
	if (--lane->n > 0)
		return;
	HASH_DEL(o->lanes, lane);
	free(lane);
}

static struct thread_pool_job *take_finished(struct thread_pool *o)
{
	struct thread_pool_job *j;

	pthread_mutex_lock(&o->lock);
	j = TAILQ_FIRST(&o->finished);
	if (j != NULL)
		TAILQ_REMOVE(&o->finished, j, link);
	pthread_mutex_unlock(&o->lock);
	return j;
}

/* Tell a few finished jobs at a time: each done() may have much to do. */
static void on_finished(evutil_socket_t fd, short what, void *arg)
{
	struct thread_pool *o = arg;
	struct thread_pool_job *j;
	eventfd_t n;
	int told = 0;

	(void)what;
	eventfd_read(fd, &n);
	while (told++ < TOLD_AT_ONCE && (j = take_finished(o)) != NULL) {
		o->count.cpu_us += j->end.cpu_us;
		if (j->lane->who != NULL)
			requestor_charge(j->lane->who, j->end.cpu_us / 1000);
		if (!atomic_load(&j->cancelled)) {
			o->count.done++;
			o->count.overdue += j->end.overdue;
			j->kind->done(j->arg, &j->end);
		}
		drop_job(o, j);
	}
	pthread_mutex_lock(&o->lock);
	if (!TAILQ_EMPTY(&o->finished))
		eventfd_write(o->event_fd, 1);
	pthread_mutex_unlock(&o->lock);
}

struct thread_pool *thread_pool_new(struct event_base *base, size_t threads)
{
	struct thread_pool *o =
	    xcalloc(1, sizeof(*o) + threads * sizeof(o->threads[0]));

	o->base = base;
	o->n_threads = threads;
	o->event_fd = -1;
	TAILQ_INIT(&o->ring);
	TAILQ_INIT(&o->finished);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->wake, NULL);
	return o;
}

/* Begin a thread with all signals blocked: signals are the loop's. */
static void begin_thread(struct thread_pool *o)
{
	struct thread *t = &o->threads[o->n_begun];
	pthread_attr_t attr;
	sigset_t all, before;
	int rc;

	t->o = o;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&t->id, &attr, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		o->n_begun++;
	else if (o->n_begun == 0)
		log_error("offload",
			  "msg=\"no thread for large checks: they "
			  "are refused\" err=\"%s\"",
			  strerror(rc));
}

/* Begin all threads at once: the second job need not wait for the first. */
static bool has_threads(struct thread_pool *o)
{
	if (o->event_fd < 0)
		o->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (o->event_fd < 0)
		return false;
	if (o->on_finished == NULL) {
		o->on_finished = event_new(
		    o->base, o->event_fd, EV_READ | EV_PERSIST, on_finished, o);
		event_add(o->on_finished, NULL);
	}
	for (size_t i = o->n_begun; i < o->n_threads; i++)
		begin_thread(o);
	return o->n_begun > 0;
}

bool thread_pool_has_room(struct thread_pool *o, struct requestor *q)
{
	struct lane *lane;

	HASH_FIND_PTR(o->lanes, &q, lane);
	return lane == NULL || lane->n - lane->n_owed < THREAD_POOL_JOBS_MAX;
}

struct thread_pool_job *thread_pool_submit(struct thread_pool *o,
					   struct requestor *q,
					   const struct thread_pool_kind *kind,
					   void *arg)
{
	struct thread_pool_job *j;
	struct lane *lane;
	bool idle;

	if (o->stopping || !has_threads(o))
		return NULL;
	lane = lane_of(o, q, kind);
	if (kind->owed ? lane->n_owed >= THREAD_POOL_OWED_MAX
		       : lane->n - lane->n_owed >= THREAD_POOL_JOBS_MAX) {
		o->count.full++;
		return NULL;
	}
	j = xcalloc(1, sizeof(*j));
	j->kind = kind;
	j->arg = arg;
	j->o = o;
	j->lane = lane;
	o->count.jobs++;
	pthread_mutex_lock(&o->lock);
	idle = TAILQ_EMPTY(&lane->jobs); /* else the lane is in the ring */
	lane->n++;
	lane->n_owed += kind->owed;
	if (kind->first)
		TAILQ_INSERT_HEAD(&lane->jobs, j, link);
	else
		TAILQ_INSERT_TAIL(&lane->jobs, j, link);
	if (idle)
		queue_up(o, lane);
	pthread_mutex_unlock(&o->lock);
	return j;
}

void thread_pool_cancel(struct thread_pool_job *j)
{
	struct thread_pool *o = j->o;
	bool waited;

	pthread_mutex_lock(&o->lock);
	waited = j->state == JOB_WAITS;
	if (waited) {
		TAILQ_REMOVE(&j->lane->jobs, j, link);
		if (!j->lane->busy && TAILQ_EMPTY(&j->lane->jobs))
			TAILQ_REMOVE(&o->ring, j->lane, link);
	} else {
		atomic_store(&j->cancelled, true);
	}
	pthread_mutex_unlock(&o->lock);
	if (waited)
		drop_job(o, j);
}

void thread_pool_stats(const struct thread_pool *o, struct thread_pool_stats *n)
{
	*n = o->count;
}

void thread_pool_log(const struct thread_pool *o)
{
	log_info("offload",
		 "jobs=%zu done=%llu overdue=%llu full=%llu cpu_ms=%lld",
		 o->count.jobs, (unsigned long long)o->count.done,
		 (unsigned long long)o->count.overdue,
		 (unsigned long long)o->count.full,
		 (long long)(o->count.cpu_us / 1000));
}

size_t thread_pool_jobs(const struct thread_pool *o)
{
	return o->count.jobs;
}

void thread_pool_free(struct thread_pool *o)
{
	struct thread_pool_job *j;
	struct lane *lane;

	if (o == NULL)
		return;
	pthread_mutex_lock(&o->lock);
	o->stopping = true;
	for (size_t i = 0; i < o->n_begun; i++)
		if (o->threads[i].job != NULL)
			atomic_store(&o->threads[i].job->cancelled, true);
	pthread_cond_broadcast(&o->wake);
	pthread_mutex_unlock(&o->lock);
	for (size_t i = 0; i < o->n_begun; i++)
		pthread_join(o->threads[i].id, NULL);
	while ((lane = TAILQ_FIRST(&o->ring)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): they leave it */
		thread_pool_cancel(TAILQ_FIRST(&lane->jobs));
	while ((j = take_finished(o)) != NULL)
		drop_job(o, j);
	assert(o->lanes == NULL);
	if (o->on_finished != NULL)
		event_free(o->on_finished);
	if (o->event_fd >= 0)
		close(o->event_fd);
	pthread_cond_destroy(&o->wake);
	pthread_mutex_destroy(&o->lock);
	free(o);
}
