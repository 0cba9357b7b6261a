#include "supervisor/runs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/json.h"
#include "supervisor/admit.h"
#include "supervisor/audit.h"
#include "supervisor/bounds.h"
#include "supervisor/keep.h"
#include "supervisor/input.h"
#include "supervisor/browser.h"
#include "supervisor/programs.h"
#include "supervisor/run_row.h"
#include "supervisor/task.h"
#include "supervisor/sched.h"
#include "supervisor/verdict.h"
#include "supervisor/view.h"

#define CANCEL_GRACE_MAX_MS 60000
#define STARTS_MAX 20 /* of one run, while there is no worker to be had… */
#define PAUSE_MS 100  /* …each so long after the last */
#define UNRECORDED_MAX (16u << 20) /* bytes of views: no run begins above */

struct runs {
	struct runs_env env;
	char *state_dir;
	struct worker_env workers;
	struct run *by_id;
	struct sched sched;
	/* pending: there was no worker of that kind to be had */
	struct event *pause[CREW_KINDS];
	size_t unrecorded;   /* bytes of views on their way to the disk */
};

/* ---- the end ---- */

static void forget(struct runs *s, struct run *r)
{
	HASH_DEL(s->by_id, r);
	input_forget(r);
	browser_forget(r);
	run_free(r);
}

struct ended { /* of a terminal row's request */
	struct runs *runs;
	struct run *run;
	size_t bytes; /* of its view */
};

static void on_ended(void *arg, const struct store_result *res)
{
	struct ended *e = arg;
	struct run *r = e->run;

	if (res->rc != 0) {
		log_error("runs", "run=%s state=%s recorded=no err=\"%s\"", r->id,
			  run_state_name(r->state), res->why);
		r->unrecorded = res->why;
	}
	e->runs->unrecorded -= e->bytes;
	run_tell(r, NEWS_ENDED);
	forget(e->runs, r);
	if (e->bytes > 0 && e->runs->unrecorded + e->bytes > UNRECORDED_MAX)
		runs_pump(e->runs);
	free(e);
}

static void log_end(const struct run *r)
{
	log_info("run",
		 "run=%s template=%s requestor=%s status=%s code=%s ms=%lld "
		 "cpu_ms=%lld rss=%lld",
		 r->id, r->template->id, r->requestor->name, run_status(r),
		 r->error.code != NULL ? r->error.code : "-",
		 (long long)(r->finished_mono_ms - r->created_mono_ms),
		 (long long)r->use.cpu_ms, (long long)r->use.max_rss_bytes);
}

/* How long it is remembered: its ttl, and as its artifacts, and its task. */
static void set_expiry(struct runs *s, struct run *r)
{
	int64_t artifact_ttl = s->env.config->artifact_ttl_ms;
	int64_t ttl = r->limits.ttl_ms;

	if (r->made_artifacts) {
		store_expire_artifacts(s->env.store, r->id,
				       r->finished_ms + artifact_ttl);
		if (ttl < artifact_ttl)
			ttl = artifact_ttl;
	}
	r->expires_ms = r->finished_ms + ttl;
	if (r->expires_ms < r->task.expires_ms)
		r->expires_ms = r->task.expires_ms;
}

/* EV ends R, which has no worker: steps, view, row; NEWS_ENDED follows. */
static void finish(struct runs *s, struct run *r, enum run_event ev)
{
	struct ended *e = xcalloc(1, sizeof(*e));
	struct json_object *view;
	int rc = run_apply(r, ev);

	assert(rc == 0);
	(void)rc;
	if (r->state == RUN_CANCELED) {
		run_clear_error(r);
		run_set_error(r, "RUN_CANCELED", NULL, "the run was cancelled");
	}
	if (r->error.code != NULL) /* else the verdict closed them */
		run_steps_close(&r->steps, r->error.code, r->error.message);
	free(r->inputs);
	r->inputs = NULL;
	set_expiry(s, r);
	view = view_run(r, s->env.isolation);
	r->view = xstrdup(json_text(view, NULL));
	json_object_put(view);
	log_end(r);
	audit_end(r, s->env.isolation);
	if (r->task.form != STORE_TASK_NONE)
		audit_task("task_ended", r->requestor, r->id,
			   task_status_name(task_status(r)));
	*e = (struct ended){s, r, strlen(r->view)};
	s->unrecorded += e->bytes;
	run_row_put(s->env.store, r, r->durable ? STORE_MUST : STORE_NOW, on_ended, e);
}

/* ---- workers ---- */

static void on_news(void *arg, struct run *r)
{
	(void)arg;
	run_tell(r, NEWS_PROGRESS);
}

static void on_artifact(void *arg, struct run *r, struct run_artifact *a,
			char *tmp_path, const char *sha256)
{
	struct runs *s = arg;

	keep_artifact(s, s->env.store, r, a, tmp_path, sha256);
}

static void on_over(void *arg, struct run *r, enum run_event ev)
{
	struct runs *s = arg;
	const char *code = r->error.code;

	/* a worker that crashed may have been probing: new addresses */
	if (code != NULL && (strcmp(code, "WORKER_CRASHED") == 0 ||
			     strcmp(code, "SANDBOX_VIOLATION") == 0))
		crew_renew(s->env.crew, programs_kind(r->template));
	sched_over(&s->sched, &r->requestor->lane);
	requestor_charge(r->requestor, r->use.cpu_ms);
	finish(s, r, ev);
	for (size_t i = 0; i < CREW_KINDS; i++)
		evtimer_del(s->pause[i]); /* there is room again */
	runs_pump(s);
}

/* Will it pass by itself? */
static bool is_passing(int err)
{
	return err == -EAGAIN || err == -ENOMEM || err == -ENOBUFS ||
	       err == -EMFILE || err == -ENFILE;
}

/* R has no worker after all: it is the next to get one, or it failed. */
static void unborn(struct runs *s, struct run *r, int err)
{
	struct timeval tv = {.tv_usec = PAUSE_MS * 1000L};

	log_warn("runs", "run=%s worker=none err=\"%s\"", r->id, strerror(-err));
	if (r->state == RUN_RUNNING && r->error.code == NULL &&
	    is_passing(err) && ++r->starts < STARTS_MAX) {
		sched_put_back(&s->sched, &r->requestor->lane, &r->queued);
		evtimer_add(s->pause[r->queued.kind], &tv);
		return;
	}
	sched_over(&s->sched, &r->requestor->lane);
	run_set_error(r, "WORKER_CRASHED", NULL,
		      "no worker could be started: %s", strerror(-err));
	finish(s, r, EV_FAIL);
}

static void on_unborn(void *arg, struct run *r, int err)
{
	unborn(arg, r, err);
	runs_pump(arg);
}

/* ---- the queue ---- */

static void enqueue(struct runs *s, struct run *r)
{
	r->queued.bytes = (int64_t)r->inputs_len;
	r->queued.kind = programs_kind(r->template);
	sched_put(&s->sched, &r->requestor->lane, &r->queued);
}

/* A bit for each kind of which there is no worker to be had just now. */
static uint32_t missing(const struct runs *s)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < CREW_KINDS; i++)
		if (evtimer_pending(s->pause[i], NULL))
			kinds |= UINT32_C(1) << i;
	/* programs may never get one: that is found out by trying */
	if (crew_zygote_pid(s->env.crew, CREW_LUA) == 0)
		kinds |= UINT32_C(1) << CREW_LUA;
	return kinds;
}

static bool can_start(struct runs *s)
{
	s->sched.waits = missing(s);
	return !*s->env.quiet && s->unrecorded <= UNRECORDED_MAX &&
	       s->sched.running < (size_t)s->env.config->max_concurrent_runs &&
	       s->sched.running < CREW_SLOTS;
}

/* The one to start now, or NULL. */
static struct run *next_run(struct runs *s)
{
	struct sched_item *item = can_start(s) ? sched_next(&s->sched) : NULL;

	return item == NULL
		   ? NULL
		   : (struct run *)((char *)item - offsetof(struct run, queued));
}

/* R, which is next, gets its worker. */
static void start(struct runs *s, struct run *r)
{
	bool first = r->state == RUN_QUEUED;
	int rc;

	sched_start(&s->sched, &r->queued);
	if (first)
		run_apply(r, EV_START);
	rc = worker_start(&s->workers, r);
	if (rc < 0) {
		unborn(s, r, rc);
		return;
	}
	if (first)
		run_tell(r, NEWS_STATE);
}

void runs_pump(struct runs *s)
{
	struct run *r;

	while ((r = next_run(s)) != NULL) {
		bool stored = r->state == RUN_QUEUED;

		start(s, r);
		if (stored && r->state == RUN_RUNNING)
			run_row_put(s->env.store, r, STORE_LAZY, NULL, NULL);
	}
}

static void on_pause_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	runs_pump(arg);
}

/* ---- creation ---- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t cap_ttl(const struct runs *s, const struct run *r,
		       int64_t ttl_ms)
{
	const struct config *c = s->env.config;
	int64_t own = r->requestor->section->max_ttl_ms;
	int64_t ttl = ttl_ms > 0 ? ttl_ms : c->default_ttl_ms;

	return least(own > 0 ? least(ttl, own) : ttl, c->max_ttl_ms);
}

static void set_task(const struct runs *s, struct run *r,
		     const struct run_wish *wish)
{
	r->task.form = wish->task;
	if (wish->task == STORE_TASK_NONE)
		return;
	r->task.ttl_ms = cap_ttl(s, r, wish->task_ttl_ms);
	r->task.expires_ms = r->created_ms + r->task.ttl_ms;
}

/* TIMEOUT_MS and TTL_MS are what is wished for; 0: nothing. */
static void set_limits(const struct runs *s, struct run *r, int64_t timeout_ms,
		       int64_t ttl_ms)
{
	bounds_set(r, s->env.config, timeout_ms);
	r->limits.cancel_grace_ms = least(r->template->limits.cancel_grace_ms,
					  CANCEL_GRACE_MAX_MS);
	r->limits.ttl_ms = cap_ttl(s, r, ttl_ms);
}

static bool may_create(struct runs *s, struct requestor *q,
		       const struct template *t, size_t inputs_len,
		       struct refusal *r)
{
	const char *sick = store_sick(s->env.store);
	const struct admit ask = {
	    .config = s->env.config,
	    .sched = &s->sched,
	    .shared = s->env.shared,
	    .starts = can_start(s) && sched_is_clear(&s->sched, &q->lane,
						     programs_kind(t)),
	    .bytes = inputs_len,
	};

	if (!programs_allow(t, s->env.config, s->env.isolation, r) ||
	    !browser_allow(t, s->env.config, r))
		return false;
	if (*s->env.draining)
		refuse(r, "QUEUE_FULL",
		       admit_details("max_queued_runs", (int64_t)s->sched.queued,
				     0, "runs",
				     "the operator: the server is stopping",
				     ADMIT_RETRY_MS),
		       "the server is being shut down and takes no more runs");
	else if (sick != NULL)
		refuse(r, "STORE_UNAVAILABLE", NULL,
		       "the server cannot record runs now: %s", sick);
	return r->code == NULL && admit_run(&ask, q, r);
}

struct stored { /* of a new row's request */
	struct runs *runs;
	struct run *run; /* it lives until its terminal row, which is later */
	runs_stored on_stored;
	void *arg;
};

static void on_stored(void *arg, const struct store_result *res)
{
	struct stored *st = arg;

	st->run->durable = res->rc == 0;
	if (st->on_stored != NULL)
		st->on_stored(st->arg, st->run,
			      res->rc == 0 ? NULL : res->why);
	if (res->rc != 0 && st->on_stored != NULL)
		runs_cancel(st->runs, st->run);
	free(st);
}

struct run *runs_create(struct runs *s, struct requestor *requestor,
			struct template *template, struct json_object *inputs,
			const struct run_wish *wish, runs_stored done,
			void *arg, struct refusal *refusal)
{
	struct stored *st;
	struct run *r;
	size_t len;
	const char *text = json_text(inputs, &len);

	if (!may_create(s, requestor, template, len, refusal))
		return NULL;
	r = run_new(requestor, template);
	r->inputs = xstrndup(text, len);
	r->inputs_len = len;
	r->session_id = xstrdup_opt(wish->session_id);
	r->trust = wish->trust;
	r->idem_key = xstrdup_opt(wish->idem_key);
	r->idem_digest = xstrdup_opt(wish->idem_digest);
	set_limits(s, r, wish->timeout_ms, wish->ttl_ms);
	set_task(s, r, wish);
	HASH_ADD_STR(s->by_id, id, r);
	audit_run("run_created", r);
	st = xcalloc(1, sizeof(*st));
	*st = (struct stored){s, r, wish->promised ? done : NULL, arg};
	enqueue(s, r);
	if (next_run(s) == r) { /* its first row says running already */
		run_apply(r, EV_START);
		run_row_put(s->env.store, r, wish->promised ? STORE_NOW : STORE_LAZY,
			on_stored, st);
		start(s, r);
	} else {
		run_row_put(s->env.store, r, wish->promised ? STORE_NOW : STORE_LAZY,
			on_stored, st);
	}
	return r;
}

/* ---- look-up, cancel ---- */

struct run *runs_find(struct runs *s, const struct requestor *requestor,
		      const char *id)
{
	struct run *r;

	HASH_FIND_STR(s->by_id, id, r);
	return r != NULL && r->requestor == requestor && !run_terminal(r) ? r
									 : NULL;
}

struct run *runs_working(struct runs *s, const char *id)
{
	struct run *r;

	HASH_FIND_STR(s->by_id, id, r);
	return r != NULL && r->worker != NULL ? r : NULL;
}

struct run *runs_find_idem(struct runs *s, const struct requestor *requestor,
			   const char *template_id, const char *key)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after)
		if (r->idem_key != NULL && r->requestor == requestor &&
		    strcmp(r->idem_key, key) == 0 &&
		    strcmp(r->template->id, template_id) == 0)
			return r;
	return NULL;
}

int runs_cancel(struct runs *s, struct run *r)
{
	bool waits = r->worker == NULL; /* queued, or for a new zygote */

	if (run_terminal(r) || r->state == RUN_CANCELLING)
		return -EALREADY;
	log_info("run", "run=%s cancel=asked", r->id);
	audit_run("run_cancel_asked", r);
	if (waits)
		sched_remove(&s->sched, &r->queued);
	if (r->state == RUN_QUEUED) {
		finish(s, r, EV_CANCEL);
		return 0;
	}
	run_apply(r, EV_CANCEL);
	/* should we die before it ends, it was cancelled all the same */
	run_row_put(s->env.store, r, STORE_NOW, NULL, NULL);
	run_tell(r, NEWS_STATE);
	if (waits)
		finish(s, r, EV_FAIL);
	else
		worker_cancel(r);
	return 0;
}

/* ---- from one instance to the next ---- */

void runs_reclaim(struct runs *s, runs_served served, void *arg,
		  const struct catalogue *catalogue,
		  const struct store_result *res)
{
	size_t again = 0;

	for (size_t i = 0; i < res->n_runs; i++) {
		const struct store_run *row = &res->runs[i];
		struct template *t =
		    catalogue_find(catalogue, row->template_id, row->version);
		struct requestor *q = served(arg, row->requestor);
		struct run *r;

		if (t == NULL || strcmp(t->digest, row->digest) != 0 ||
		    row->inputs == NULL || q == NULL) {
			run_row_interrupt(s->env.store, row,
					  s->env.config->default_ttl_ms);
			continue;
		}
		r = run_row_revive(row, q, t);
		set_limits(s, r, r->limits.timeout_ms, r->limits.ttl_ms);
		HASH_ADD_STR(s->by_id, id, r);
		enqueue(s, r);
		again++;
	}
	if (res->n_runs + res->interrupted > 0)
		log_info("runs", "recovered queued=%zu interrupted=%zu", again,
			 res->interrupted + res->n_runs - again);
	runs_pump(s);
}

void runs_interrupt(struct runs *s, bool queued)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		if (run_terminal(r) || (r->state == RUN_QUEUED && !queued))
			continue;
		run_set_error(r, "RUN_INTERRUPTED", NULL,
			      "the server was stopped before the run had ended");
		if (r->worker != NULL)
			continue; /* crew_stop() ends it, and on_over() comes */
		sched_remove(&s->sched, &r->queued);
		finish(s, r, EV_FAIL);
	}
}

void runs_tell_unrecorded(struct runs *s, const char *why)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		if (!run_terminal(r) || TAILQ_EMPTY(&r->watches))
			continue;
		r->unrecorded = why;
		run_tell(r, NEWS_ENDED);
		r->unrecorded = NULL;
	}
}

size_t runs_running(const struct runs *s)
{
	return s->sched.running;
}

size_t runs_queued(const struct runs *s)
{
	return s->sched.queued;
}

size_t runs_unrecorded(const struct runs *s)
{
	return HASH_COUNT(s->by_id) - s->sched.queued;
}

struct runs *runs_new(const struct runs_env *env)
{
	struct runs *s = xcalloc(1, sizeof(*s));

	s->env = *env;
	s->state_dir = xstrdup(env->config->state_dir);
	s->workers = (struct worker_env){
	    .base = env->base,
	    .crew = env->crew,
	    .on_news = on_news,
	    .on_artifact = on_artifact,
	    .on_ask = env->on_ask,
	    .on_drop = env->on_drop,
	    .ask_arg = env->ask_arg,
	    .on_over = on_over,
	    .on_unborn = on_unborn,
	    .arg = s,
	    .state_dir = s->state_dir,
	    .instance = env->instance,
	};
	sched_init(&s->sched);
	for (size_t i = 0; i < CREW_KINDS; i++)
		s->pause[i] = evtimer_new(env->base, on_pause_over, s);
	return s;
}

void runs_free(struct runs *s)
{
	struct run *r, *after;

	if (s == NULL)
		return;
	HASH_ITER(hh, s->by_id, r, after)
		forget(s, r);
	for (size_t i = 0; i < CREW_KINDS; i++)
		event_free(s->pause[i]);
	free(s->state_dir);
	free(s);
}
