/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_queue.c - decides which queued run starts next and when: by places, by
 * fair shares of requestors, and by whether files and a worker can be had and a
 * program's package is as it was loaded. Called when a run is queued or ends, and
 * when a zygote reports. A failed start is repeated after pauses; then the run
 * fails, and the error names the missing part.
 */
#include "supervisor/run/exec/runs_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errno_passes.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/artifacts/artifact_copies.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/run/threads/package_look.h"
#include "supervisor/run/warm/residents.h"
#include "supervisor/run/record/run_row.h"
#include "supervisor/runtime/runtime.h"

#define STARTS_MAX 20	 /* pauses of a run, while no worker can be had */
#define PAUSE_MS 100	 /* the time from one try to the next */
#define RENEWING_MAX 300 /* while a zygote serves, but a new zygote is needed */

static void weigh_inputs(struct run *r)
{
	r->job.queued.bytes = (int64_t)r->inputs_len;
	if (r->files != NULL)
		r->job.queued.bytes += (int64_t)r->files->inputs_len +
				       run_files_bytes(r->files, false);
	r->job.queued.kind = r->template->runtime;
	r->job.queued.level = r->family.depth;
}

void runs_enqueue(struct runs *s, struct run *r)
{
	weigh_inputs(r);
	if (residents_join(s->ctx->residents, r))
		sched_put(&s->sched, &r->requestor->lane, &r->job.queued);
	else /* until the run before has ended */
		sched_put_aside(&s->sched, &r->requestor->lane, &r->job.queued);
}

void runs_leave_resident(struct runs *s, struct run *r)
{
	bool had = r->job.resident != NULL;
	struct run *next = residents_leave(s->ctx->residents, r);

	if (had && next == NULL && s->ctx->cluster != NULL)
		s->ctx->cluster->wake(
		    s); /* runs in the shared queue may go on */
	if (next == NULL || next->job.queued.lane == NULL ||
	    !next->job.queued.aside)
		return;
	sched_remove(&s->sched, &next->job.queued);
	runs_enqueue(s, next);
}

void runs_enqueue_aside(struct runs *s, struct run *r)
{
	weigh_inputs(r);
	sched_put_aside(&s->sched, &r->requestor->lane, &r->job.queued);
}

/*
 * Give each requestor a fair part of the places, if there may be several
 * requestors.
 */
static void share_places(struct runs *s)
{
	const struct config *c = s->ctx->config;

	s->sched.known = s->unlisted + c->n_requestors;
	s->sched.places = s->ctx->others ? (size_t)c->max_concurrent_runs : 0;
}

bool runs_has_slot(const struct runs *s)
{
	return sched_begun(&s->sched, 0) + s->stopped < ZYGOTE_PROTO_SLOTS;
}

bool runs_can_start(struct runs *s)
{
	/* runs that go on in a server that ends call templates to the last */
	bool just_calls = s->ctx->draining && s->ctx->flush_until_ms == 0;

	if ((s->ctx->quiet && !just_calls) || !runs_has_lease(s))
		return false;
	/* kinds without an available worker now; of programs a zygote may never
	   start, which a try finds out */
	s->sched.waits = 0;
	for (size_t i = 0; i < RUNTIMES; i++)
		if (evtimer_pending(s->pause[i], NULL) ||
		    (runtimes[i]->always &&
		     spawner_zygote_pid(s->ctx->spawner,
					(enum runtime_kind)i) == 0))
			s->sched.waits |= UINT32_C(1) << i;
	share_places(s);
	s->sched.least =
	    sched_least(&s->sched, (size_t)s->ctx->config->max_concurrent_runs);
	if (just_calls && s->sched.least == 0)
		s->sched.least = 1;
	return s->unrecorded <= RUNS_UNRECORDED_MAX &&
	       s->sched.least < SCHED_LEVELS && runs_has_slot(s);
}

#define NO_NEW_WORKER ((unsigned)RUNTIMES) /* a kind of its own */

bool runs_has_place(struct runs *s, const struct run *r)
{
	share_places(s);
	return sched_begun(&s->sched, r->family.depth) <
		   (size_t)s->ctx->config->max_concurrent_runs &&
	       sched_has_room(&s->sched, &r->requestor->lane, r->family.depth);
}

void runs_await_place(struct runs *s, struct run *r)
{
	if (r->job.queued.lane != NULL)
		return;
	r->job.queued.bytes = 0;
	r->job.queued.kind = NO_NEW_WORKER;
	r->job.queued.level = r->family.depth;
	sched_put_first(&s->sched, &r->requestor->lane, &r->job.queued);
}

struct run *runs_next(struct runs *s)
{
	struct sched_item *item =
	    runs_can_start(s) ? sched_next(&s->sched) : NULL;

	return item == NULL ? NULL : CONTAINER(item, struct run, job.queued);
}

/*
 * Return why no worker can be had. Runs cannot send descriptors, so another
 * program of the user has caused ETOOMANYREFS.
 */
static const char *why_none(int err)
{
	if (err != -ETOOMANYREFS)
		return strerror(-err);
	return "ETOOMANYREFS: another program of this server's user has sent so "
	       "many descriptors that nobody has received that the kernel "
	       "refuses more; end that program, raise this server's limit of "
	       "open files (ulimit -n), or start it as root or another user";
}

void runs_not_started(struct runs *s, struct run *r, int err)
{
	bool passes = err == -EINPROGRESS || err == -EAGAIN ||
		      err == -ETOOMANYREFS || errno_passes(-err);

	if (err != -EINPROGRESS)
		log_warn("runs", "run=%s requestor=%s worker=none err=\"%s\"",
			 r->id, r->requestor->name, why_none(err));
	if (r->state == RUN_RUNNING && r->error.code == NULL && passes &&
	    ++r->job.starts <
		(err == -EINPROGRESS ? RENEWING_MAX : STARTS_MAX)) {
		sched_put_back(&s->sched, &r->requestor->lane, &r->job.queued);
		evtimer_add(s->pause[r->job.queued.kind],
			    CLOCK_TIMEVAL(PAUSE_MS));
		return;
	}
	sched_over(&s->sched, &r->requestor->lane);
	run_set_error(r, "WORKER_CRASHED", NULL,
		      "no worker could be started: %s", why_none(err));
	runs_finish(s, r, EV_FAIL);
}

/* ---- the files of a run ---- */

static void on_here(void *arg, const char *run_id)
{
	struct runs *s = arg;
	struct run *r = runs_by_id(s, run_id);

	if (r == NULL || r->state != RUN_QUEUED || !run_is_here(r) ||
	    !r->job.queued.aside)
		return;
	artifact_copies_name(s->copies, r->id, r->files);
	sched_remove(&s->sched, &r->job.queued);
	sched_put_first(&s->sched, &r->requestor->lane, &r->job.queued);
	runs_pump(s);
}

bool runs_files_here(struct runs *s, struct run *r)
{
	if (r->state != RUN_QUEUED || r->files == NULL ||
	    run_files_artifacts(r->files) == 0 ||
	    !config_has_rows(s->ctx->config))
		return true;
	if (artifact_copies_take(s->copies, r->id, r->requestor->name,
				 r->files)) {
		artifact_copies_name(s->copies, r->id, r->files);
		return true;
	}
	sched_remove(&s->sched, &r->job.queued);
	runs_enqueue_aside(s, r);
	return false;
}

void runs_files_over(struct runs *s, struct run *r)
{
	bool wanted = false;

	for (size_t i = 0; i < r->job.n_held; i++)
		wanted |= store_release(s->ctx->store, r->job.held[i]);
	free(r->job.held);
	r->job.held = NULL;
	r->job.n_held = 0;
	if (wanted) {
		/* artifacts that were deleted meanwhile go now, and count no more */
		store_sweep(s->ctx->store, clock_wall_ms());
		artifact_save_count(s->ctx->store, r->requestor);
	}
	artifact_copies_release(s->copies, r->id);
}

/* ---- a start ---- */

/* Give R, which has a place, a worker; FIRST: R had no worker before. */
static void give_worker(struct runs *s, struct run *r, bool first)
{
	size_t n = r->files == NULL ? 0 : run_files_artifacts(r->files);
	int rc;

	/* keep the files, and their account, until R ends, even when deleted */
	if (r->job.held == NULL && n > 0 && !config_has_rows(s->ctx->config)) {
		r->job.held = xcalloc(n, sizeof(*r->job.held));
		for (size_t i = 0; i < r->files->n; i++) {
			const struct run_file *f = &r->files->v[i];

			if (f->bytes != NULL)
				continue;
			memcpy(r->job.held[r->job.n_held++], f->artifact,
			       ID_SIZE);
			store_hold(s->ctx->store, f->artifact);
		}
	}
	rc = worker_start(&s->workers, r, false);
	if (rc < 0)
		runs_not_started(s, r, rc);
	else if (first)
		run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
}

/* A look at a program's package, before the worker. */
struct run_look {
	struct runs *runs;
	struct run *run;
	struct package_look *package;
	int64_t since_ms; /* mono */
	bool first;	  /* the run has not been started before */
};

static void tell_changed(struct run *r, const char *errmsg)
{
	/* only the operator learns the package's path */
	log_warn("runs", "run=%s requestor=%s template=%s stale=\"%s\"", r->id,
		 r->requestor->name, r->template->id, errmsg);
	if (r->template->broken != NULL)
		run_set_error(
		    r, "EXECUTION_ERROR",
		    json_pack("cure:s",
			      "the operator mends the package, and has "
			      "templates reloaded (paddock reload, or SIGHUP)"),
		    "the package of %s %s is broken since it was loaded, and "
		    "what is there now is not run before it is mended and "
		    "templates are reloaded (paddock reload, or SIGHUP)",
		    r->template->id, r->template->version_text);
	else
		run_set_error(
		    r, "EXECUTION_ERROR",
		    json_pack("cure:s",
			      "the operator has templates reloaded (paddock "
			      "reload, or SIGHUP)"),
		    "%s %s was changed after it was loaded, and what is "
		    "there now is not run before templates are reloaded "
		    "(paddock reload, or SIGHUP)",
		    r->template->id, r->template->version_text);
}

static void on_seen(void *arg, int rc, const char *errmsg)
{
	struct run_look *l = arg;
	struct runs *s = l->runs;
	struct run *r = l->run;
	bool first = l->first;

	r->job.look = NULL;
	/* the time of the look does not count */
	r->started_mono_ms += clock_mono_ms() - l->since_ms;
	free(l);
	if (rc == -ESTALE)
		tell_changed(r, errmsg);
	if (rc < 0)
		runs_not_started(s, r, rc);
	else if (!runs_has_lease(s)) /* R may belong to another server */
		runs_not_started(s, r, -EINPROGRESS);
	else
		give_worker(s, r, first);
	runs_pump(s); /* the run may have left its place */
}

void runs_look_drop(struct runs *s, struct run *r)
{
	if (r->job.look == NULL)
		return;
	package_look_forget(r->job.look->package);
	free(r->job.look);
	r->job.look = NULL;
	sched_over(&s->sched, &r->requestor->lane);
}

/* Start R, which has a place: the run of a program once its package is looked at. */
static void launch_run(struct runs *s, struct run *r, bool first)
{
	struct tool_error no = {0};
	struct run_look *l;

	/* the grants were there when R was made, and a reload may have taken some */
	if (!grants_allow(r->template, s->ctx->config, &no) ||
	    !grants_secrets_allow(r->template, s->ctx->config,
				  r->requestor->name, &no)) {
		run_set_error(r, no.code, json_object_get(no.details), "%s",
			      no.message);
		tool_error_fini(&no);
		runs_not_started(s, r, -EPERM);
		return;
	}
	if (!runtimes[r->template->runtime]->sees_host) {
		give_worker(s, r, first);
		return;
	}
	l = r->job.look = xcalloc(1, sizeof(*l));
	*l = (struct run_look){
	    .runs = s, .run = r, .since_ms = clock_mono_ms(), .first = first};
	l->package = package_look_ask(s->ctx->base, s->ctx->thread_pool,
				      r->requestor, r->template, on_seen, l);
}

void runs_start(struct runs *s, struct run *r)
{
	bool first = r->state == RUN_QUEUED;

	if (!runs_files_here(s, r))
		return;
	sched_start(&s->sched, &r->job.queued);
	if (r->job.worker != NULL) {
		runs_go_on(s, r);
		return;
	}
	if (first)
		run_apply(r, EV_START);
	launch_run(s, r, first);
}

/* ---- what has waited ---- */

void runs_begin_drop(struct runs *s, struct run *r)
{
	if (!r->job.beginning)
		return;
	r->job.beginning = false;
	sched_over(&s->sched, &r->requestor->lane);
}

/* Let R wait again: R has not begun. */
static void not_begun(struct runs *s, struct run *r)
{
	runs_begin_drop(s, r);
	run_apply(r, EV_RETRY);
	r->attempts.started_ms = 0;
	if (run_attempts(r) == 0)
		r->started_ms = 0;
}

void runs_begin_undo(struct runs *s, struct run *r)
{
	not_begun(s, r);
	runs_enqueue_aside(s, r);
	if (s->ctx->cluster != NULL)
		s->ctx->cluster->leave(s, r);
	run_row_put(s->ctx->store, r, STORE_RETRY, NULL, NULL);
}

/*
 * The row of R's start is written, or not. After a failure R starts all the
 * same in a state of this server alone; in a shared state another server may
 * own R by now.
 */
static void on_begun(void *arg, const struct store_result *res)
{
	struct run_ref *ref = arg;
	struct runs *s = ref->runs;
	struct run *r = runs_referred(ref); /* the run may be over */

	if (r == NULL || !r->job.beginning)
		return;
	if ((res->rc != 0 && s->ctx->cluster != NULL) || !runs_has_lease(s)) {
		/* R waits a moment longer: another server may own R, or will */
		not_begun(s, r);
		runs_enqueue(s, r);
		evtimer_add(s->pause[r->job.queued.kind],
			    CLOCK_TIMEVAL(PAUSE_MS));
		return;
	}
	if (s->ctx->draining && s->ctx->cluster != NULL &&
	    r->family.parent == NULL) { /* children end with the parent here */
		runs_begin_undo(s, r);
		return;
	}
	r->job.beginning = false;
	launch_run(s, r, true);
	runs_pump(s); /* the run may have left its place at once */
}

/*
 * Begin R after R's row says "running": after a crash the next server starts
 * each run whose row says "queued".
 */
static void begin_run(struct runs *s, struct run *r)
{
	if (!runs_files_here(s, r))
		return;
	sched_start(&s->sched, &r->job.queued);
	run_apply(r, EV_START);
	r->job.beginning = true;
	run_row_put(s->ctx->store, r, STORE_SYNC, on_begun, runs_refer(s, r));
}

void runs_pump(struct runs *s)
{
	struct run *r;

	while ((r = runs_next(s)) != NULL)
		(r->state == RUN_QUEUED ? begin_run : runs_start)(s, r);
	if (s->ctx->cluster != NULL)
		s->ctx->cluster->claim(s);
}

static void on_pause_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	runs_pump(arg);
}

void runs_resume(struct runs *s)
{
	for (size_t i = 0; i < RUNTIMES; i++)
		evtimer_del(s->pause[i]);
	if (s->ctx->cluster != NULL)
		s->ctx->cluster->wake(s);
	runs_pump(s);
}

size_t runs_running(const struct runs *s)
{
	return s->sched.running;
}

size_t runs_queued(const struct runs *s)
{
	return s->sched.queued;
}

void runs_queue_init(struct runs *s)
{
	sched_init(&s->sched);
	s->copies = artifact_copies_new(s->ctx, on_here, s);
	for (size_t i = 0; i < RUNTIMES; i++)
		s->pause[i] = evtimer_new(s->ctx->base, on_pause_over, s);
}

void runs_queue_fini(struct runs *s)
{
	artifact_copies_free(s->copies);
	for (size_t i = 0; i < RUNTIMES; i++)
		event_free(s->pause[i]);
}
