/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm.c - the workers that wait for a run, by what their cages are like.
 * worker.c takes them, server.c and reload.c renew them. Nothing here fails a
 * run: where none waits one is cloned, as ever; one that cannot be had is asked
 * for again later.
 */
#include "supervisor/warm/warm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"

#define KEPT_MAX 4	   /* different cages */
#define SLOTS_LEFT 32	   /* at least, to runs */
#define RETRY_FIRST_MS 100 /* after one was lost; doubles */
#define RETRY_MAX_MS 30000
#define IDLE_MS (600 * INT64_C(1000)) /* without such a run they go */

TAILQ_HEAD(borns, born);

/* Those that wait in cages that are all the same. */
struct kept {
	struct warm *warm;
	uint32_t id;
	struct spawner_job job;
	unsigned want;
	struct borns waiting; /* the oldest first */
	unsigned n;
	uint64_t hits, misses, replaced;
	int64_t pause_ms;      /* after the last loss; 0: none of late */
	int64_t not_before_ms; /* monotonic, as used_ms */
	int64_t used_ms;
	TAILQ_ENTRY(kept) link;
};

struct warm {
	struct context *ctx;
	TAILQ_HEAD(kepts, kept) kept; /* the one that was used last first */
	unsigned n_kept;
	uint32_t last_id;
	struct borns ending;
	struct event *fill;
	int64_t due_ms; /* FILL, while it is pending */
	bool stopped;
};

/* ---- how they come and go ---- */

static void fill_in(struct warm *m, int64_t ms)
{
	int64_t due_ms = clock_mono_ms() + ms;

	if (m->stopped ||
	    (evtimer_pending(m->fill, NULL) && m->due_ms <= due_ms))
		return;
	m->due_ms = due_ms;
	evtimer_add(m->fill, CLOCK_TIMEVAL(ms));
}

static void leave(struct born *b)
{
	struct kept *k = b->kept;
	struct warm *m = b->owner;

	TAILQ_REMOVE(k != NULL ? &k->waiting : &m->ending, b, link);
	if (k != NULL)
		k->n--;
	b->kept = NULL;
}

/* It is reaped when it comes to that. */
static void dismiss(struct born *b)
{
	struct warm *m = b->owner;

	leave(b);
	TAILQ_INSERT_TAIL(&m->ending, b, link);
	born_signal(b, SIGKILL);
}

static void dismiss_all(struct kept *k)
{
	while (!TAILQ_EMPTY(&k->waiting))
		dismiss(TAILQ_FIRST(&k->waiting));
}

static void kept_free(struct kept *k)
{
	dismiss_all(k);
	TAILQ_REMOVE(&k->warm->kept, k, link);
	k->warm->n_kept--;
	free(k);
}

/* One was lost: the next comes later than the last did. */
static void lost(struct kept *k)
{
	k->replaced++;
	k->pause_ms = backoff_ms(k->pause_ms, RETRY_FIRST_MS, RETRY_MAX_MS);
	k->not_before_ms = clock_mono_ms() + k->pause_ms;
	fill_in(k->warm, k->pause_ms);
}

/* ---- what the spawner tells of them ---- */

static void on_born(struct born *b, int err)
{
	struct kept *k = b->kept;

	if (err == 0 && k == NULL)
		born_signal(b, SIGKILL);
	if (err == 0) {
		log_debug("warm", "pid=%d waits=yes", (int)b->child.pid);
		return;
	}
	leave(b);
	born_free(b);
	if (k != NULL)
		lost(k);
}

static void on_exit_of(struct born *b, int status, const struct rusage *use)
{
	struct kept *k = b->kept;

	(void)use;
	leave(b);
	if (k != NULL) {
		log_warn("warm", "pid=gone status=%d replaced=%llu", status,
			 (unsigned long long)k->replaced + 1);
		lost(k);
	}
	born_free(b);
}

static const struct born_ops ops = {on_born, on_exit_of};

/* ---- as many as are wanted ---- */

static bool add_one(struct kept *k)
{
	struct context *ctx = k->warm->ctx;
	struct born *b;
	int rc;

	b = born_ask(ctx->spawner, &k->job, &ops, k->warm, &rc);
	if (b == NULL)
		return false;
	b->waited = true;
	b->kept = k;
	b->kept_id = k->id;
	b->zygote = spawner_zygote_pid(ctx->spawner, k->job.kind);
	TAILQ_INSERT_TAIL(&k->waiting, b, link);
	k->n++;
	return true;
}

/* How long until K is to be looked at again. */
static int64_t fill(struct kept *k, int64_t now)
{
	int64_t idle_ms = k->used_ms + IDLE_MS - now;

	if (idle_ms <= 0) {
		kept_free(k);
		return IDLE_MS;
	}
	if (k->not_before_ms > now)
		return k->not_before_ms - now;
	while (k->n < k->want)
		if (born_count() > ZYGOTE_PROTO_SLOTS - SLOTS_LEFT ||
		    !add_one(k))
			return RETRY_FIRST_MS;
	return idle_ms;
}

static void on_fill(evutil_socket_t fd, short what, void *arg)
{
	struct warm *m = arg;
	struct kept *k, *next;
	int64_t now = clock_mono_ms(), least = IDLE_MS;

	(void)fd, (void)what;
	if (m->ctx->quiet || m->ctx->draining)
		return; /* no run is started, so none is wanted */
	for (k = TAILQ_FIRST(&m->kept); k != NULL; k = next) {
		int64_t ms;

		next = TAILQ_NEXT(k, link);
		ms = fill(k, now);
		least = ms < least ? ms : least;
	}
	if (m->n_kept > 0)
		fill_in(m, least);
}

/* ---- a run takes one ---- */

static bool is_same(const struct spawner_job *a, const struct spawner_job *b)
{
	return a->kind == b->kind && a->cpu_ms == b->cpu_ms &&
	       a->memory_bytes == b->memory_bytes;
}

static struct kept *find(const struct warm *m, const struct spawner_job *job)
{
	struct kept *k;

	TAILQ_FOREACH(k, &m->kept, link)
		if (is_same(&k->job, job))
			break;
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

static struct kept *kept_new(struct warm *m, const struct spawner_job *job)
{
	struct kept *k = xcalloc(1, sizeof(*k));

	while (m->n_kept >= KEPT_MAX)
		kept_free(TAILQ_LAST(&m->kept, kepts));
	k->warm = m;
	k->id = ++m->last_id;
	k->job = *job;
	k->want = 1;
	TAILQ_INIT(&k->waiting);
	TAILQ_INSERT_HEAD(&m->kept, k, link);
	m->n_kept++;
	return k;
}

/* The oldest, unless a fresh zygote's clones are to come in their place. */
static struct born *take_from(struct kept *k)
{
	pid_t zygote = spawner_zygote_pid(k->warm->ctx->spawner, k->job.kind);
	struct born *b;

	while ((b = TAILQ_FIRST(&k->waiting)) != NULL && b->zygote != zygote)
		dismiss(b);
	if (b == NULL) {
		k->misses++;
		return NULL;
	}
	leave(b);
	k->hits++;
	return b;
}

struct born *warm_take(struct warm *m, const struct spawner_job *job,
		       const struct born_ops *to, void *owner)
{
	struct kept *k;
	struct born *b;

	if (m == NULL || m->stopped || job->kind != RUNTIME_LUA)
		return NULL;
	k = find(m, job);
	if (k == NULL)
		k = kept_new(m, job);
	else if (TAILQ_FIRST(&m->kept) != k) {
		TAILQ_REMOVE(&m->kept, k, link);
		TAILQ_INSERT_HEAD(&m->kept, k, link);
	}
	k->used_ms = clock_mono_ms();
	b = take_from(k);
	if (b != NULL) {
		b->ops = to;
		b->owner = owner;
	}
	fill_in(m, 0);
	return b;
}

void warm_began(struct warm *m, const struct born *b)
{
	struct kept *k = m != NULL ? find_id(m, b->kept_id) : NULL;

	if (k != NULL)
		k->pause_ms = 0;
}

void warm_was_unfit(struct warm *m, const struct born *b)
{
	struct kept *k = m != NULL ? find_id(m, b->kept_id) : NULL;

	if (k != NULL)
		lost(k);
}

/* ---- all of them ---- */

void warm_give_way(struct warm *m)
{
	struct kept *k;

	if (m == NULL)
		return;
	TAILQ_FOREACH(k, &m->kept, link) {
		dismiss_all(k);
		k->not_before_ms = clock_mono_ms() + RETRY_FIRST_MS;
	}
}

void warm_renew(struct warm *m, enum runtime kind)
{
	struct kept *k;

	if (m == NULL)
		return;
	TAILQ_FOREACH(k, &m->kept, link)
		if (k->job.kind == kind)
			dismiss_all(k);
	fill_in(m, 0);
}

struct json_object *warm_view(const struct warm *m)
{
	static const char *const names[] = {"lua", "program"};
	struct json_object *list = json_object_new_array();
	const struct kept *k;

	if (m == NULL)
		return list;
	TAILQ_FOREACH(k, &m->kept, link)
		json_object_array_add(
		    list,
		    json_pack("runtime:s waiting:i hits:i misses:i replaced:i",
			      names[k->job.kind], (int64_t)k->n,
			      (int64_t)k->hits, (int64_t)k->misses,
			      (int64_t)k->replaced));
	return list;
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
	if (m == NULL)
		return;
	m->stopped = true;
	evtimer_del(m->fill);
	while (!TAILQ_EMPTY(&m->kept))
		kept_free(TAILQ_FIRST(&m->kept));
}

void warm_free(struct warm *m)
{
	if (m == NULL)
		return;
	warm_stop(m);
	event_free(m->fill);
	free(m);
}
