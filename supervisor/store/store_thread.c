/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_thread.c - the store's thread: takes due requests, executes them in one
 * transaction, and lays the results ready for the caller's thread. store.c starts the
 * thread and queues requests. While the disk fails, requests that must be kept are
 * repeated with pauses, other requests get -errno, and health reports the failure.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/os/log.h"

/* longer than many runs: then a short run is written once */
#define DEFERRED_MS 50
#define GATHER_RUNS 4
#define GATHER_MS 2    /* about the duration of 4 concurrent runs */
#define PICKED_MAX 256 /* requests among which the rows of a run are searched */
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 2000
#define STACK_BYTES ((size_t)512 << 10)

void store_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms)
{
	struct timespec ts = {.tv_sec = ms / 1000,
			      .tv_nsec = ms % 1000 * 1000000};

	if (ms == STORE_FOREVER)
		pthread_cond_wait(c, lock);
	else
		pthread_cond_timedwait(c, lock, &ts);
}

/* Wake the thread, since the thread has something to do. */
void store_wake_thread(struct store *s)
{
	if (s->wake_fd < 0)
		pthread_cond_signal(&s->wake);
	else if (atomic_load(&s->resting))
		eventfd_write(s->wake_fd, 1);
}

/*
 * Release the lock and wait until DUE, or until a new request; or let the engine wait,
 * which also listens for wake-ups. When the queue has just become empty, wake once more
 * before rows deferred from now on are due: while runs follow each other, the first rows
 * then wake no thread.
 */
static void rest_until_due(struct store *s, int64_t due)
{
	eventfd_t n;

	s->dozing = due == STORE_FOREVER && s->worked;
	s->worked = false;
	if (s->dozing)
		due = clock_mono_ms() + DEFERRED_MS;
	if (s->wake_fd < 0) {
		store_wait_until(&s->wake, &s->lock, due);
	} else {
		atomic_store(&s->resting, true);
		pthread_mutex_unlock(&s->lock);
		s->engine->rest(s, s->wake_fd, due);
		pthread_mutex_lock(&s->lock);
		atomic_store(&s->resting, false);
		eventfd_read(s->wake_fd, &n);
	}
	s->dozing = false;
}

/*
 * Should the batch wait for more ends of runs? Many runs are under way, each with a first
 * row in the queue: more runs will end in a moment, and a commit costs the same for many
 * rows. An urgent row normally has a deferred row in the queue, too.
 */
static bool is_worth_waiting(const struct store *s)
{
	return s->ends == s->n_urgent && !s->stopping &&
	       s->queued >= 2 * s->n_urgent + GATHER_RUNS;
}

int64_t store_due_ms(const struct store *s)
{
	int64_t due = STORE_FOREVER;

	if (s->abandon)
		return 0;
	if (s->n_urgent > 0)
		return is_worth_waiting(s) ? s->urgent_ms + GATHER_MS : 0;
	if (!STAILQ_EMPTY(&s->queue))
		due = s->stopping ? 0 : s->lazy_until_ms;
	if (!STAILQ_EMPTY(&s->retry_queue) && s->retry_ms < due)
		due = s->retry_ms;
	return due;
}

static void backoff(struct store *s)
{
	if (STAILQ_EMPTY(&s->retry_queue)) {
		s->backoff_ms = 0;
		return;
	}
	s->backoff_ms =
	    backoff_ms(s->backoff_ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
	s->retry_ms = clock_mono_ms() + s->backoff_ms;
}

/*
 * Log once that the store began to fail, and once that the store works again; but a
 * failure at the first use is reported by the caller of the request. LOCK is held.
 */
static void diagnose(struct store *s)
{
	bool failing = s->errmsg[0] != '\0', used = s->used;
	/* a successful read does not prove that writes work again */
	bool stays =
	    !failing && s->failing[0] != '\0' && s->fails_writes && !s->wrote;

	s->used = true;
	if (!stays)
		s->fails_writes =
		    failing && s->not_wrote && s->engine->is_open(s);
	s->wrote = s->not_wrote = false;
	if (stays)
		return;
	if (failing && s->failing[0] == '\0' && used)
		log_error("store", "msg=\"%s\"", s->errmsg);
	else if (!failing && s->failing[0] != '\0')
		log_info("store", "msg=\"works again\" dir=\"%s\"", s->dir);
	snprintf(s->failing, sizeof(s->failing), "%s", s->errmsg);
	s->failing_rc = s->why_rc;
	if (failing && s->why_rc == -EOWNERDEAD && !s->lost) {
		s->lost = true;
		eventfd_write(s->event_fd, 1);
	}
}

static void enqueue(struct store *s, struct store_req *r)
{
	if (STAILQ_EMPTY(&s->queue))
		s->lazy_until_ms = r->asked_ms + DEFERRED_MS;
	STAILQ_INSERT_TAIL(&s->queue, r, link);
	s->queued++;
	if (r->urgent && s->n_urgent++ == 0)
		s->urgent_ms = r->asked_ms;
	if (r->urgent && r->run.finished_ms > 0)
		s->ends++;
	if (r->op != &store_op_put_run)
		s->others++;
}

/* BATCH has been decided: is there a result for store_dispatch()? LOCK is held. */
static bool finish_batch(struct store *s, struct store_reqs *batch)
{
	bool told = false;
	struct store_req *r;

	while ((r = STAILQ_FIRST(batch)) != NULL) {
		STAILQ_REMOVE_HEAD(batch, link);
		if (r->again && (!s->stopping || r->op->ends)) {
			store_req_forget(r);
			enqueue(s, r);
		} else if (r->done == NULL) {
			store_req_free(r);
		} else {
			STAILQ_INSERT_TAIL(&s->finished, r, link);
			told = true;
		}
	}
	return told;
}

static void take_batch(struct store *s, struct store_reqs *batch)
{
	STAILQ_INIT(batch);
	STAILQ_CONCAT(batch, &s->retry_queue);
	STAILQ_CONCAT(batch, &s->queue);
	s->queued = s->n_urgent = s->ends = s->others = 0;
}

/* Does ALL contain an urgent write of R's row? */
static bool has_twin(const struct store_reqs *all, const struct store_req *r)
{
	const struct store_req *other;

	STAILQ_FOREACH(other, all, link)
		if (other->urgent && strcmp(other->run.id, r->run.id) == 0)
			return true;
	return false;
}

/*
 * As take_batch(), but deferred rows wait on, since the end of the run may come
 * before the row is due. A read needs all earlier rows to be written.
 */
static void take_due(struct store *s, struct store_reqs *batch)
{
	struct store_reqs all = STAILQ_HEAD_INITIALIZER(all);
	bool n_urgent[STORE_SLOTS] = {false};
	int64_t now = clock_mono_ms();
	struct store_req *r;

	if (s->stopping || s->others > 0 || s->queued > PICKED_MAX) {
		take_batch(s, batch);
		return;
	}
	STAILQ_CONCAT(&all, &s->queue);
	take_batch(s, batch);
	/* most rows then need no comparison with all others */
	STAILQ_FOREACH(r, &all, link)
		n_urgent[store_slot(r->run.id)] |= r->urgent;
	STAILQ_FOREACH(r, &all, link)
		r->deferred =
		    !r->urgent && r->run.idem_key == NULL &&
		    r->asked_ms + DEFERRED_MS > now &&
		    !(n_urgent[store_slot(r->run.id)] && has_twin(&all, r));
	while ((r = STAILQ_FIRST(&all)) != NULL) {
		STAILQ_REMOVE_HEAD(&all, link);
		if (r->deferred)
			enqueue(s, r);
		else
			STAILQ_INSERT_TAIL(batch, r, link);
	}
}

/* Time is up: fail all waiting requests with the reason. LOCK is held. */
static void give_up_store(struct store *s)
{
	struct store_reqs left;
	struct store_req *r;

	take_batch(s, &left);
	STAILQ_FOREACH(r, &left, link) {
		store_req_forget(r);
		store_req_fail(r, -ECANCELED,
			       "%s: the store was stopped before this was "
			       "written%s%s",
			       s->db_path, s->failing[0] != '\0' ? "; " : "",
			       s->failing);
		if (r->op->drop != NULL)
			r->op->drop(s, r);
	}
	if (finish_batch(s, &left))
		eventfd_write(s->event_fd, 1);
}

/* Receive wake-ups on a busy thread, which never calls rest_until_due(). */
static void read_wakes(struct store *s)
{
	if (s->engine->hear != NULL)
		s->engine->hear(s);
}

static void work_batches(struct store *s)
{
	struct store_reqs batch;

	take_due(s, &batch);
	s->company = s->queued;
	s->busy = s->worked = true;
	pthread_mutex_unlock(&s->lock);
	store_batch(s, &batch, &s->retry_queue);
	store_note_reached(s);
	read_wakes(s);
	pthread_mutex_lock(&s->lock);
	diagnose(s);
	backoff(s);
	s->busy = !STAILQ_EMPTY(&s->retry_queue);
	if (!finish_batch(s, &batch))
		return;
	/* without the lock, since the woken thread takes the lock first */
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->event_fd, 1);
	pthread_mutex_lock(&s->lock);
}

/*
 * Check that the database is reachable and that this instance still counts as
 * alive, even without requests.
 */
static void beat(struct store *s)
{
	pthread_mutex_unlock(&s->lock);
	s->errmsg[0] = '\0';
	s->why_rc = 0;
	if (store_sql_open(s) == 0 && s->engine->beat(s) == -ENOTCONN) {
		/* reconnect, which reports a failure as well */
		s->errmsg[0] = '\0';
		store_sql_open(s);
	}
	store_note_about(s);
	read_wakes(s);
	pthread_mutex_lock(&s->lock);
	if (s->errmsg[0] != '\0' || STAILQ_EMPTY(&s->retry_queue))
		/* else the next retry reports whether the store works */
		diagnose(s);
	s->beat_ms = clock_mono_ms() + STORE_BEAT_MS;
}

/* The caller has forgotten the old instance: remove all remains but the old lock file. */
static void rejoin(struct store *s)
{
	char *instance = s->rejoin;

	s->rejoin = NULL;
	pthread_mutex_unlock(&s->lock);
	if (s->engine->rejoin != NULL)
		s->engine->rejoin(s);
	store_instance_unlock(s);
	free(s->instance);
	s->instance = instance;
	atomic_store(&s->lease_until_ms, STORE_NO_LEASE);
	atomic_store(&s->beaten_ms, 0);
	pthread_mutex_lock(&s->lock);
	s->lost = s->fails_writes = false;
	s->errmsg[0] = '\0';
	diagnose(s);
	s->beat_ms = 0;
}

/* Move staged rows after the answers were delivered, so that no request waits. */
static void unstage_ends(struct store *s)
{
	int rc;

	pthread_mutex_unlock(&s->lock);
	s->errmsg[0] = '\0';
	s->why_rc = 0;
	rc = store_sql_open(s);
	if (rc == 0)
		rc = store_unstage_now(s);
	*(rc == 0 ? &s->wrote : &s->not_wrote) = true;
	pthread_mutex_lock(&s->lock);
	diagnose(s);
	s->unstage_ms = rc == 0 ? 0 : clock_mono_ms() + BACKOFF_MAX_MS;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void leave_store(struct store *s)
{
	if (!s->abandon)
		store_wake_now(s);
	if (!s->abandon && s->staged > 0 && s->engine->is_open(s))
		(void)store_unstage_now(s); /* or the next instance does */
	if (s->engine->leave != NULL)
		s->engine->leave(s);
	store_closing_end(s);
	store_sql_close(s);
	store_instance_unlock(s);
}

static void *thread_main(void *arg)
{
	struct store *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->stopped) {
		int64_t due = store_due_ms(s), now = clock_mono_ms();
		int64_t wake = store_wake_due_ms(s);
		int64_t move = store_unstage_due_ms(s, due);

		if (s->abandon)
			give_up_store(s);
		if (STAILQ_EMPTY(&s->queue) && STAILQ_EMPTY(&s->retry_queue)) {
			s->busy = false;
			pthread_cond_signal(&s->idle);
		}
		if (s->rejoin != NULL) {
			rejoin(s);
		} else if (!s->abandon && s->beat_ms <= now) {
			beat(s); /* first, even with much to do */
		} else if (!s->abandon && wake <= now) {
			/* other instances read the rows that are durable now */
			pthread_mutex_unlock(&s->lock);
			store_wake_now(s);
			pthread_mutex_lock(&s->lock);
		} else if (!s->abandon && move <= now) {
			unstage_ends(s);
		} else if (!s->abandon && due <= now) {
			work_batches(s);
		} else {
			rest_until_due(s, s->abandon
					      ? STORE_FOREVER
					      : least(least(due, wake),
						      least(move, s->beat_ms)));
		}
	}
	pthread_mutex_unlock(&s->lock);
	leave_store(s);
	return NULL;
}

int store_thread_start(struct store *s)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&s->thread, &attr, thread_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

void store_submit(struct store *s, struct store_req *r)
{
	bool wakes;

	if (r == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	wakes = (STAILQ_EMPTY(&s->queue) && !s->dozing) ||
		(r->urgent && s->n_urgent == 0);
	enqueue(s, r);
	wakes = wakes || (r->urgent && !is_worth_waiting(s));
	pthread_mutex_unlock(&s->lock);
	if (wakes)
		store_wake_thread(s);
}
