/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the store's thread and its queue: what was asked is taken, done in
 * one transaction and told on the caller's thread. Called through store_api.c
 * by all of the supervisor. While the disk fails, what must be kept is tried
 * again with pauses, all else is told -errno, and health says so.
 */
#include "supervisor/store/store.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/state/state_file.h"
#include "supervisor/store/store_impl.h"
#include "supervisor/store/store_readq.h"

#define DEFERRED_MS 50 /* longer than many a run: then it is written once */
#define GATHER_RUNS 16
#define GATHER_MS 3    /* less than 16 runs take */
#define PICKED_MAX 256 /* requests in which one run's are looked for */
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 2000
#define BEAT_MS 1000
#define FOREVER INT64_MAX
#define LOST_MS (24LL * 3600 * 1000) /* until store_keep_lost() says else */
#define STACK_BYTES ((size_t)512 << 10)

static void wait_until(struct store *s, pthread_cond_t *c, int64_t ms)
{
	struct timespec ts = {.tv_sec = ms / 1000,
			      .tv_nsec = ms % 1000 * 1000000};

	if (ms == FOREVER)
		pthread_cond_wait(c, &s->lock);
	else
		pthread_cond_timedwait(c, &s->lock, &ts);
}

/* There is something for the thread to see. */
void store_wake_thread(struct store *s)
{
	if (s->wake_fd < 0)
		pthread_cond_signal(&s->wake);
	else if (atomic_load(&s->resting))
		eventfd_write(s->wake_fd, 1);
}

/* Until MS, with the lock given back, by an engine that has more to wait for. */
static void rest_until(struct store *s, int64_t ms)
{
	eventfd_t n;

	if (s->wake_fd < 0) {
		wait_until(s, &s->wake, ms);
		return;
	}
	atomic_store(&s->resting, true);
	pthread_mutex_unlock(&s->lock);
	s->engine->rest(s, s->wake_fd, ms);
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->resting, false);
	eventfd_read(s->wake_fd, &n);
}

/*
 * Many runs are under way, each with its first row here: more of them end in a
 * moment, and a commit costs the same for all of those. Whose row is in a hurry
 * has a lazy one, too, as a rule.
 */
static bool is_worth_waiting(const struct store *s)
{
	return s->ends == s->n_urgent && !s->stopping &&
	       s->queued >= 2 * s->n_urgent + GATHER_RUNS;
}

int64_t store_due_ms(const struct store *s)
{
	int64_t due = FOREVER;

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
 * Say once that it began to fail, and once that it is over; but what fails at
 * the first use, who asked tells. LOCK is held.
 */
static void diagnose(struct store *s)
{
	bool failing = s->errmsg[0] != '\0', used = s->used;

	s->used = true;
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

/* BATCH has been decided: is there any for store_dispatch()? LOCK is held. */
static bool finish(struct store *s, struct store_reqs *batch)
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

static void take(struct store *s, struct store_reqs *batch)
{
	STAILQ_INIT(batch);
	STAILQ_CONCAT(batch, &s->retry_queue);
	STAILQ_CONCAT(batch, &s->queue);
	s->queued = s->n_urgent = s->ends = s->others = 0;
}

/* Is there one among ALL that writes R's row for somebody who waits? */
static bool has_twin(const struct store_reqs *all, const struct store_req *r)
{
	const struct store_req *other;

	STAILQ_FOREACH(other, all, link)
		if (other->urgent && strcmp(other->run.id, r->run.id) == 0)
			return true;
	return false;
}

/* Where such a one may be: most rows need not be held against all others. */
static void mark_urgent(const struct store_reqs *all, bool slots[STORE_SLOTS])
{
	const struct store_req *r;

	STAILQ_FOREACH(r, all, link)
		if (r->urgent)
			slots[store_slot(r->run.id)] = true;
}

/*
 * As take(), but rows that are in no hurry wait on, for the run's end may
 * come before their time does. What is read has to see all of them.
 */
static void take_due(struct store *s, struct store_reqs *batch)
{
	struct store_reqs all = STAILQ_HEAD_INITIALIZER(all);
	bool n_urgent[STORE_SLOTS] = {false};
	int64_t now = clock_mono_ms();
	struct store_req *r;

	if (s->stopping || s->others > 0 || s->queued > PICKED_MAX) {
		take(s, batch);
		return;
	}
	STAILQ_CONCAT(&all, &s->queue);
	take(s, batch);
	mark_urgent(&all, n_urgent);
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

/* Time is up: whoever still waits is told why. LOCK is held. */
static void give_up(struct store *s)
{
	struct store_reqs left;
	struct store_req *r;

	take(s, &left);
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
	if (finish(s, &left))
		eventfd_write(s->event_fd, 1);
}

static void work(struct store *s)
{
	struct store_reqs batch;

	take_due(s, &batch);
	s->busy = s->worked = true;
	pthread_mutex_unlock(&s->lock);
	store_batch(s, &batch, &s->retry_queue);
	pthread_mutex_lock(&s->lock);
	diagnose(s);
	backoff(s);
	s->busy = !STAILQ_EMPTY(&s->retry_queue);
	if (!finish(s, &batch))
		return;
	/* not under the lock, which is what who is told takes first */
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->event_fd, 1);
	pthread_mutex_lock(&s->lock);
}

/*
 * Until DUE, or somebody has more. Where there is nothing, and was something
 * before, it looks again before what is deferred now is due: while runs follow
 * each other, their first rows wake nobody.
 */
static void rest(struct store *s, int64_t due)
{
	s->dozing = due == FOREVER && s->worked;
	s->worked = false;
	rest_until(s, s->dozing ? clock_mono_ms() + DEFERRED_MS : due);
	s->dozing = false;
}

/* Others are to know that we live, whether or not there is anything to do. */
static void beat(struct store *s)
{
	pthread_mutex_unlock(&s->lock);
	s->errmsg[0] = '\0';
	s->why_rc = 0;
	if (store_sql_open(s) == 0 && s->engine->beat(s) == -ENOTCONN) {
		s->errmsg[0] = '\0'; /* it is made again, which says it, too */
		store_sql_open(s);
	}
	store_note_about(s);
	pthread_mutex_lock(&s->lock);
	diagnose(s);
	s->beat_ms = clock_mono_ms() + BEAT_MS;
}

/* The caller has forgotten whom we were: nothing of that one is left but its file. */
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
	pthread_mutex_lock(&s->lock);
	s->lost = false;
	s->errmsg[0] = '\0';
	diagnose(s);
	s->beat_ms = 0;
}

/* What is durable, others are to look at. */
static void wake_others(struct store *s)
{
	pthread_mutex_unlock(&s->lock);
	store_wake_now(s);
	pthread_mutex_lock(&s->lock);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void leave(struct store *s)
{
	if (!s->abandon)
		store_wake_now(s);
	if (s->engine->leave != NULL)
		s->engine->leave(s);
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

		if (s->abandon)
			give_up(s);
		if (STAILQ_EMPTY(&s->queue) && STAILQ_EMPTY(&s->retry_queue)) {
			s->busy = false;
			pthread_cond_signal(&s->idle);
		}
		if (s->rejoin != NULL)
			rejoin(s);
		else if (!s->abandon && s->beat_ms <= now)
			beat(s); /* first, however much there is to do */
		else if (!s->abandon && wake <= now)
			wake_others(s);
		else if (!s->abandon && due <= now)
			work(s);
		else
			rest(s, s->abandon
				    ? FOREVER
				    : least(least(due, wake), s->beat_ms));
	}
	pthread_mutex_unlock(&s->lock);
	leave(s);
	return NULL;
}

static void init_waiting(struct store *s)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, &attr);
	pthread_cond_init(&s->idle, &attr);
	pthread_condattr_destroy(&attr);
}

/* The thread takes no signal: they are the loop's. */
static int start_thread(struct store *s)
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

static void free_store(struct store *s)
{
	if (s->event_fd >= 0)
		close(s->event_fd);
	if (s->nudge_fd >= 0)
		close(s->nudge_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	buf_fini(&s->wakes.nodes);
	store_keep_lost(s, 0, 0, NULL, 0); /* frees what it has */
	pthread_cond_destroy(&s->idle);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->db);
	free(s->instance);
	free(s->rejoin);
	free(s->node_name);
	free(s->url);
	free(s->db_path);
	free(s->files);
	free(s->dir);
	free(s);
}

struct store *store_start(const char *state_dir, const char *instance)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int rc;

	s->dir = xstrdup(state_dir);
	s->db_path = xasprintf("%s/%s", state_dir, STORE_DB);
	s->files = xstrdup(state_dir);
	s->instance = xstrdup(instance);
	s->engine = &store_sqlite;
	s->beat_ms = FOREVER;
	s->lease_until_ms = STORE_NO_LEASE;
	s->instance_fd = -1;
	STAILQ_INIT(&s->queue);
	STAILQ_INIT(&s->finished);
	STAILQ_INIT(&s->retry_queue);
	init_waiting(s);
	store_keep_lost(s, LOST_MS, LOST_MS, NULL, 0);
	s->nudge_fd = s->wake_fd = -1;
	s->poll_ms = STORE_POLL_MS;
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd >= 0)
		return s;
	rc = errno;
	free_store(s);
	errno = rc;
	return NULL;
}

void store_set_url(struct store *s, const char *url)
{
	if (url == NULL || url[0] == '\0')
		return;
	s->url = xstrdup(url);
	free(s->db_path);
	s->db_path = store_url_name(url);
	s->engine = &store_postgres;
}

void store_set_artifacts(struct store *s, const char *folder)
{
	s->in_rows = folder == NULL && s->engine->chunks != NULL;
	if (folder == NULL)
		return;
	free(s->files);
	s->files = xstrdup(folder);
}

void store_on_begin(struct store *s, void (*on_begin)(void *arg, int err),
		    void *arg)
{
	s->on_begin = on_begin;
	s->on_begin_arg = arg;
}

bool store_is_begun(const struct store *s)
{
	return s->begun;
}

void store_begin(struct store *s)
{
	int err;

	if (s->begun)
		return;
	s->begun = true;
	s->nudge_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (s->engine->rest != NULL)
		s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->engine->beat != NULL) /* the first request opens it */
		s->beat_ms = clock_mono_ms() + BEAT_MS;
	err = start_thread(s);
	if (s->on_begin != NULL)
		s->on_begin(s->on_begin_arg, err);
}

/* To the thread goes R; NULL is fine. */
static void submit(struct store *s, struct store_req *r)
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

int store_fd(const struct store *s)
{
	return s->event_fd;
}

int store_nudge_fd(const struct store *s)
{
	return s->nudge_fd;
}

/* What the caller's thread is to see to, beside answers. */
static void tell_news(struct store *s)
{
	bool news;

	pthread_mutex_lock(&s->lock);
	news = s->on_news != NULL && (s->death || s->lost || s->woken != 0);
	pthread_mutex_unlock(&s->lock);
	if (news)
		s->on_news(s->on_news_arg);
}

void store_dispatch(struct store *s)
{
	struct store_reqs ready = STAILQ_HEAD_INITIALIZER(ready);
	struct store_req *r;
	eventfd_t n;

	eventfd_read(s->event_fd, &n);
	pthread_mutex_lock(&s->lock);
	STAILQ_CONCAT(&ready, &s->finished);
	pthread_mutex_unlock(&s->lock);
	while ((r = STAILQ_FIRST(&ready)) != NULL) {
		STAILQ_REMOVE_HEAD(&ready, link);
		submit(s, store_readq_leave(&s->readqs, r));
		r->done(r->arg, &r->res);
		store_req_free(r);
	}
	tell_news(s);
}

static bool all_told(struct store *s)
{
	bool told;

	pthread_mutex_lock(&s->lock);
	told =
	    !s->busy && STAILQ_EMPTY(&s->finished) && STAILQ_EMPTY(&s->queue);
	pthread_mutex_unlock(&s->lock);
	return told;
}

/* False: UNTIL_MS came first. */
static bool wait_idle(struct store *s, int64_t until_ms)
{
	bool idle;

	pthread_mutex_lock(&s->lock);
	while ((s->busy || !STAILQ_EMPTY(&s->queue)) &&
	       clock_mono_ms() < until_ms)
		wait_until(s, &s->idle, until_ms);
	idle = !s->busy && STAILQ_EMPTY(&s->queue);
	pthread_mutex_unlock(&s->lock);
	return idle;
}

static void set_and_wake(struct store *s, bool *flag)
{
	pthread_mutex_lock(&s->lock);
	*flag = true;
	s->retry_ms = 0;
	store_wake_thread(s);
	pthread_mutex_unlock(&s->lock);
}

void store_stop(struct store *s, int timeout_ms)
{
	int64_t until_ms = clock_mono_ms() + timeout_ms;

	if (s == NULL)
		return;
	if (store_is_lost(s)) /* nothing of it can be written any more */
		until_ms = 0;
	set_and_wake(s, &s->stopping);
	do {
		if (!wait_idle(s, until_ms)) {
			set_and_wake(s, &s->abandon);
			wait_idle(s, FOREVER);
		}
		store_dispatch(s); /* which may ask for more */
	} while (!all_told(s));
	set_and_wake(s, &s->stopped);
	if (s->begun)
		pthread_join(s->thread, NULL);
	free_store(s);
}

const char *store_failing(struct store *s)
{
	static _Thread_local char text[STORE_WHY_SIZE];

	pthread_mutex_lock(&s->lock);
	memcpy(text, s->failing, sizeof(text));
	pthread_mutex_unlock(&s->lock);
	return text[0] != '\0' ? text : NULL;
}

const char *store_failing_message(struct store *s)
{
	const char *says;

	pthread_mutex_lock(&s->lock);
	says = s->failing[0] != '\0' ? store_says(s->failing_rc) : NULL;
	pthread_mutex_unlock(&s->lock);
	return says;
}

void store_ask(struct store *s, const struct store_op *op,
	       const struct store_req *asked)
{
	struct store_req *r = store_req_new(op, asked);

	store_begin(s);
	r->epoch = atomic_load(&s->epoch);
	r->res.errmsg = "";
	r->asked_ms = clock_mono_ms();
	if (store_readq_enter(&s->readqs, r))
		submit(s, r);
}
