/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - opens and closes the store, hands requests to the store's thread,
 * and calls the callbacks on the caller's thread. The whole supervisor calls
 * through store_api.c. A request that cannot be kept in time is answered with
 * -errno.
 */
#include "supervisor/store/store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/state/state_file.h"
#include "supervisor/store/store_impl.h"
#include "supervisor/store/store_readq.h"

/* default until store_keep_lost() sets another time */
#define LOST_MS (24LL * 3600 * 1000)

static void free_store(struct store *s)
{
	if (s->event_fd >= 0)
		close(s->event_fd);
	if (s->nudge_fd >= 0)
		close(s->nudge_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	buf_fini(&s->wakes.nodes);
	store_keep_lost(s, 0, 0, NULL, 0); /* frees the old values */
	pthread_cond_destroy(&s->idle);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->held);
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
	pthread_condattr_t attr;
	int rc;

	s->dir = xstrdup(state_dir);
	s->db_path = xasprintf("%s/%s", state_dir, STORE_DB);
	s->files = xstrdup(state_dir);
	s->instance = xstrdup(instance);
	s->engine = &store_sqlite;
	s->beat_ms = STORE_FOREVER;
	s->lease_until_ms = STORE_NO_LEASE;
	s->instance_fd = -1;
	STAILQ_INIT(&s->queue);
	STAILQ_INIT(&s->finished);
	STAILQ_INIT(&s->retry_queue);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, &attr);
	pthread_cond_init(&s->idle, &attr);
	pthread_condattr_destroy(&attr);
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
	/* the first request opens the database */
	if (s->engine->beat != NULL)
		s->beat_ms = clock_mono_ms() + STORE_BEAT_MS;
	err = store_thread_start(s);
	if (s->on_begin != NULL)
		s->on_begin(s->on_begin_arg, err);
}

int store_fd(const struct store *s)
{
	return s->event_fd;
}

int store_nudge_fd(const struct store *s)
{
	return s->nudge_fd;
}

void store_dispatch(struct store *s)
{
	int64_t since_us = clock_mono_us();
	struct store_reqs ready = STAILQ_HEAD_INITIALIZER(ready);
	struct store_req *r;
	bool news;
	eventfd_t n;

	eventfd_read(s->event_fd, &n);
	pthread_mutex_lock(&s->lock);
	STAILQ_CONCAT(&ready, &s->finished);
	pthread_mutex_unlock(&s->lock);
	while ((r = STAILQ_FIRST(&ready)) != NULL &&
	       clock_mono_us() - since_us < STORE_DISPATCH_US) {
		STAILQ_REMOVE_HEAD(&ready, link);
		store_submit(s, store_readq_leave(&s->readqs, r));
		r->done(r->arg, &r->res);
		store_req_free(r);
	}
	pthread_mutex_lock(&s->lock);
	/* the rest is for the next call, before the requests that finished meanwhile */
	STAILQ_CONCAT(&ready, &s->finished);
	STAILQ_CONCAT(&s->finished, &ready);
	/* a dead or lost instance, or a wake-up */
	news = s->on_news != NULL && (s->death || s->lost || s->woken != 0);
	pthread_mutex_unlock(&s->lock);
	if (r != NULL)
		eventfd_write(s->event_fd, 1);
	if (news)
		s->on_news(s->on_news_arg);
}

/* Wait until the thread is idle. False: UNTIL_MS came first. */
static bool wait_idle(struct store *s, int64_t until_ms)
{
	bool idle;

	pthread_mutex_lock(&s->lock);
	while ((s->busy || !STAILQ_EMPTY(&s->queue)) &&
	       clock_mono_ms() < until_ms)
		store_wait_until(&s->idle, &s->lock, until_ms);
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
	bool all_told;

	if (s == NULL)
		return;
	if (store_is_lost(s)) /* a lost instance can write nothing any more */
		until_ms = 0;
	set_and_wake(s, &s->stopping);
	do {
		if (!wait_idle(s, until_ms)) {
			set_and_wake(s, &s->abandon);
			wait_idle(s, STORE_FOREVER);
		}
		store_dispatch(s); /* a callback may queue further requests */
		pthread_mutex_lock(&s->lock);
		all_told = !s->busy && STAILQ_EMPTY(&s->finished) &&
			   STAILQ_EMPTY(&s->queue);
		pthread_mutex_unlock(&s->lock);
	} while (!all_told);
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
		store_submit(s, r);
}
