/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm.c - keeps workers that wait for a run, by their cages. worker.c takes
 * workers, server.c and reload.c renew them. Nothing here fails a run: where no
 * worker waits, one is cloned, and a failed clone is tried again later.
 */
#include "supervisor/run/warm/warm.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/config/config.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/threads/package_look.h"
#include "supervisor/run/warm/warm_private.h"
#include "supervisor/runtime/runtime.h"

#define SLOTS_LEFT 32	   /* slots kept free for runs */
#define RETRY_FIRST_MS 100 /* pause after a worker was lost; doubles */
#define RETRY_MAX_MS 30000
#define RETRY_MEMORY_MS 500 /* pause while memory or slots are taken */
#define LOOK_MS 60000	    /* most time between looks */
#define AFTER_MS 20	    /* the run that took a worker goes first */
#define LUA_AFTER_MS 2	    /* the same, of Lua; see warm_result() */
#define FAILURES_MAX 5	    /* most failures of a program in a row */
#define START_MAX_MS 40000  /* most time to start; the shim is stricter */

/* ---- workers come and go ---- */

static void fill_in(struct warm *m, int64_t ms)
{
	int64_t due_ms = clock_mono_ms() + ms;

	if (m->stopped ||
	    (evtimer_pending(m->fill, NULL) && m->due_ms <= due_ms))
		return;
	m->due_ms = due_ms;
	evtimer_add(m->fill, CLOCK_TIMEVAL(ms));
}

/* Take B from its list and stop reading B, for a new owner or the end. */
static void leave_waiting(struct spawned *b)
{
	struct kept *k = b->kept;
	struct warm *m = b->owner;

	if (b->readable != NULL)
		event_free(b->readable);
	b->readable = NULL;
	TAILQ_REMOVE(k != NULL ? &k->waiting : &m->ending, b, link);
	if (k != NULL)
		k->n--;
	b->kept = NULL;
}

void warm_dismiss(struct spawned *b)
{
	struct warm *m = b->owner;

	leave_waiting(b);
	TAILQ_INSERT_TAIL(&m->ending, b, link);
	spawned_signal(b, SIGKILL);
}

static void dismiss_all(struct kept *k)
{
	while (!TAILQ_EMPTY(&k->waiting))
		warm_dismiss(TAILQ_FIRST(&k->waiting));
}

static void free_kept(struct kept *k)
{
	dismiss_all(k);
	package_look_forget(k->look);
	TAILQ_REMOVE(&k->warm->kept, k, link);
	template_unref(k->template);
	free(k);
}

static void give_up_kept(struct kept *k, const char *why)
{
	k->want = 0;
	dismiss_all(k);
	log_warn("warm",
		 "template=%s version=%s prestart=no why=\"%s\" until=reload",
		 k->template->id, k->template->version_text, why);
}

/* A worker of K was lost: pause longer before the next. */
static void lost(struct kept *k, const char *why)
{
	k->replaced++;
	k->failures++;
	k->pause_ms = backoff_ms(k->pause_ms, RETRY_FIRST_MS, RETRY_MAX_MS);
	k->not_before_ms = clock_mono_ms() + k->pause_ms;
	log_info("warm", "template=%s%s replaced=%llu why=\"%s\"",
		 k->template != NULL ? "" : "any of ",
		 k->template != NULL ? k->template->id
				     : runtimes[k->job.kind]->title,
		 (unsigned long long)k->replaced, why);
	if (k->template != NULL && k->failures >= FAILURES_MAX && k->want > 0)
		give_up_kept(k, why);
	fill_in(k->warm, k->pause_ms);
}

void warm_replace(struct spawned *b)
{
	struct kept *k = b->kept;

	warm_dismiss(b);
	if (k != NULL)
		lost(k, "it did not do as its shim was told");
}

/* ---- events from the spawner ---- */

static void on_spawned(struct spawned *b, int err)
{
	struct kept *k = b->kept;

	if (err != 0) {
		leave_waiting(b);
		spawned_free(b);
		if (k != NULL)
			lost(k, strerror(err));
		return;
	}
	log_debug("warm", "pid=%d waits=yes", (int)b->child.pid);
	if (k == NULL)
		spawned_signal(b, SIGKILL);
	else if (k->template != NULL)
		warm_program_begin(b);
}

static void on_exit_of(struct spawned *b, int status, const struct rusage *use)
{
	struct kept *k = b->kept;
	(void)use;
	warm_program_end(b);
	leave_waiting(b);
	if (k != NULL)
		lost(k, warm_why(status));
	spawned_free(b);
}

static const struct spawned_ops ops = {on_spawned, on_exit_of};

/* ---- keeping as many as wanted ---- */

static bool add_one(struct kept *k)
{
	struct context *ctx = k->warm->ctx;
	uint64_t bytes = 0;
	struct spawned *b;
	int rc;

	if (spawned_count() > ZYGOTE_PROTO_SLOTS - SLOTS_LEFT)
		return false;
	if (k->template != NULL)
		bytes = warm_share_room(k);
	if (k->template != NULL && bytes == 0)
		return false;
	b = spawned_ask(ctx->spawner, &k->job, &ops, k->warm, &rc);
	if (b == NULL)
		return false;
	b->waited = true;
	b->kept = k;
	b->kept_id = k->id;
	b->bytes = bytes;
	b->began_ms = clock_mono_ms();
	b->zygote = spawner_zygote_pid(ctx->spawner, k->job.kind);
	TAILQ_INSERT_TAIL(&k->waiting, b, link);
	k->n++;
	return true;
}

static struct spawned *find_stuck(const struct kept *k, int64_t now)
{
	struct spawned *b;

	TAILQ_FOREACH(b, &k->waiting, link)
		if (!b->settled && now - b->began_ms > START_MAX_MS)
			break;
	return b;
}

/* Start workers until K has enough. False: no more can be had now. */
static bool start_wanted(struct kept *k)
{
	while (k->n < k->want)
		if (!add_one(k))
			return false;
	return true;
}

/* The package of K was looked at, as before each start of a program. */
static void on_seen(void *arg, int rc, const char *errmsg)
{
	struct kept *k = arg;
	struct warm *m = k->warm;

	(void)errmsg;
	k->look = NULL;
	if (m->ctx->quiet || m->ctx->draining)
		return;
	if (rc == -ESTALE)
		give_up_kept(k, "its package was changed after it was loaded");
	else if (rc < 0 || !start_wanted(k))
		fill_in(m, RETRY_MEMORY_MS);
}

/* Start workers for K. Returns how long (ms) until K needs another look. */
static int64_t fill_kept(struct kept *k, int64_t now)
{
	struct context *ctx = k->warm->ctx;
	int64_t idle_ms = k->used_ms + ctx->config->prestart_idle_ms - now;
	struct spawned *b;

	if (idle_ms <= 0) {
		free_kept(k);
		return LOOK_MS;
	}
	/* workers that never came to wait; the last failure dismisses all */
	while (k->template != NULL && (b = find_stuck(k, now)) != NULL)
		warm_replace(b);
	if (k->not_before_ms > now)
		return k->not_before_ms - now;
	if (k->template == NULL && !start_wanted(k))
		return RETRY_FIRST_MS;
	if (k->template != NULL && k->look == NULL && k->n < k->want)
		k->look = package_look_ask(ctx->base, ctx->thread_pool, NULL,
					   k->template, on_seen, k);
	return idle_ms;
}

static void on_fill(evutil_socket_t fd, short what, void *arg)
{
	struct warm *m = arg;
	struct kept *k, *next;
	int64_t now = clock_mono_ms(), least = LOOK_MS;

	(void)fd, (void)what;
	if (m->ctx->quiet || m->ctx->draining)
		return; /* no run starts, so no worker is wanted */
	for (k = TAILQ_FIRST(&m->kept); k != NULL; k = next) {
		int64_t ms;

		next = TAILQ_NEXT(k, link);
		ms = fill_kept(k, now);
		least = ms < least ? ms : least;
	}
	if (!TAILQ_EMPTY(&m->kept))
		fill_in(m, least);
}

/* ---- a run takes a worker ---- */

static struct kept *find_kept(const struct warm *m, const struct template *t,
			      const struct spawner_job *job)
{
	struct kept *k;

	TAILQ_FOREACH(k, &m->kept, link) {
		const struct spawner_job *own = &k->job;

		if (own->kind == job->kind && own->cpu_ms == job->cpu_ms &&
		    own->memory_bytes == job->memory_bytes &&
		    k->template == t &&
		    (t == NULL || memcmp(&own->limits, &job->limits,
					 sizeof(own->limits)) == 0))
			break;
	}
	return k;
}

static struct kept *find_id(const struct warm *m, uint32_t id)
{
	struct kept *k;

	TAILQ_FOREACH(k, &m->kept, link)
		if (k->id == id)
			break;
	return k;
}

static struct kept *kept_new(struct warm *m, struct template *t,
			     const struct spawner_job *job, const void *user)
{
	struct kept *k;
	unsigned n = 0;

	TAILQ_FOREACH(k, &m->kept, link)
		n += k->job.kind == job->kind;
	if (n >= runtimes[job->kind]->kept_max) /* make room, for USER */
		free_kept(warm_share_last(m, job->kind, user));
	k = xcalloc(1, sizeof(*k));
	k->warm = m;
	k->id = ++m->last_id;
	k->template = t != NULL ? template_ref(t) : NULL;
	k->job = *job;
	k->job.quick_end = t != NULL;
	k->want = t != NULL ? t->prestart : 1;
	TAILQ_INIT(&k->waiting);
	TAILQ_INSERT_HEAD(&m->kept, k, link);
	return k;
}

/*
 * Return the oldest worker of K (of programs: one that waits), or NULL. Dismiss
 * workers of an older zygote.
 */
static struct spawned *find_ready(struct kept *k)
{
	pid_t zygote = spawner_zygote_pid(k->warm->ctx->spawner, k->job.kind);
	struct spawned *b, *next, *best = NULL;

	for (b = TAILQ_FIRST(&k->waiting); b != NULL; b = next) {
		next = TAILQ_NEXT(b, link);
		if (b->zygote != zygote)
			warm_dismiss(b);
		else if (k->template == NULL)
			return b;
		else if (b->prepared && spawned_is_alive(b) &&
			 (best == NULL || (b->settled && !best->settled)))
			best = b;
	}
	return best;
}

struct spawned *warm_take(struct warm *m, const void *user, struct template *t,
			  const struct spawner_job *job,
			  const struct spawned_ops *to, void *owner)
{
	struct kept *k;
	struct spawned *b;

	if (!runtimes[job->kind]->has_shim)
		t = NULL;
	if (m == NULL || m->stopped || m->ctx->passing ||
	    (t != NULL && (t->prestart == 0 || job->n_files > 0)))
		return NULL;
	k = find_kept(m, t, job);
	if (k == NULL)
		k = kept_new(m, t, job, user);
	k->user = user;
	TAILQ_REMOVE(&m->kept, k, link);
	TAILQ_INSERT_HEAD(&m->kept, k, link);
	k->used_ms = clock_mono_ms();
	b = find_ready(k);
	if (b == NULL) {
		k->misses++;
	} else {
		leave_waiting(b);
		k->hits++;
		b->ops = to;
		b->owner = owner;
	}
	if (t != NULL && k->not_before_ms < k->used_ms + AFTER_MS)
		k->not_before_ms = k->used_ms + AFTER_MS;
	fill_in(m, t == NULL ? LUA_AFTER_MS : 0);
	return b;
}

void warm_result(struct warm *m)
{
	if (m == NULL || m->stopped || !evtimer_pending(m->fill, NULL))
		return;
	evtimer_del(m->fill);
	on_fill(-1, 0, m);
}

void warm_began(struct warm *m, const struct spawned *b)
{
	struct kept *k = m != NULL ? find_id(m, b->kept_id) : NULL;

	if (k == NULL)
		return;
	k->pause_ms = 0;
	k->failures = 0;
}

void warm_was_unfit(struct warm *m, const struct spawned *b, const char *why)
{
	struct kept *k = m != NULL ? find_id(m, b->kept_id) : NULL;

	if (k != NULL)
		lost(k, why);
}

/* ---- all workers ---- */

void warm_give_way(struct warm *m)
{
	struct kept *k;

	if (m == NULL)
		return;
	TAILQ_FOREACH(k, &m->kept, link) {
		dismiss_all(k);
		k->not_before_ms = clock_mono_ms() + RETRY_MEMORY_MS;
	}
	fill_in(m, RETRY_MEMORY_MS);
}

void warm_renew(struct warm *m, enum runtime_kind kind)
{
	struct kept *k;

	if (m == NULL)
		return;
	TAILQ_FOREACH(k, &m->kept, link)
		if (k->job.kind == kind)
			dismiss_all(k);
	fill_in(m, 0);
}

/* Have K keep workers for its template in ALL. False: nothing to keep. */
static bool move_on(struct kept *k, const struct catalogue *all)
{
	struct template *t =
	    catalogue_find(all, k->template->id, k->template->version_text);

	if (t == NULL || t->prestart == 0)
		return false;
	package_look_forget(k->look);
	k->look = NULL;
	template_ref(t);
	template_unref(k->template);
	k->template = t;
	k->want = t->prestart;
	k->failures = 0;
	k->needs = 0;
	k->job.package = t->dir;
	k->job.package_id = t->folder;
	k->job.digest = t->digest;
	k->job.reads = t->reads;
	k->job.n_reads = t->n_reads;
	k->job.locks = grants_asks_locks(t);
	k->job.in = t->file_spots != NULL;
	return true;
}

void warm_reloaded(struct warm *m, const struct catalogue *all)
{
	struct kept *k, *next;

	if (m == NULL)
		return;
	for (k = TAILQ_FIRST(&m->kept); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		dismiss_all(k);
		if (k->template != NULL && !move_on(k, all))
			free_kept(k);
	}
	fill_in(m, 0);
}

struct warm *warm_new(struct context *ctx)
{
	struct warm *m = xcalloc(1, sizeof(*m));

	m->ctx = ctx;
	TAILQ_INIT(&m->kept);
	TAILQ_INIT(&m->ending);
	m->fill = evtimer_new(ctx->base, on_fill, m);
	return m;
}

void warm_stop(struct warm *m)
{
	struct kept *k, *next;

	if (m == NULL)
		return;
	m->stopped = true;
	evtimer_del(m->fill);
	for (k = TAILQ_FIRST(&m->kept); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		free_kept(k);
	}
}

void warm_free(struct warm *m)
{
	if (m == NULL)
		return;
	warm_stop(m);
	event_free(m->fill);
	free(m);
}
