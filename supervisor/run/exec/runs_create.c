/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_create.c - makes a run for a request of tool_run.c, and turns a run into
 * a task. A requestor without room or rights gets a refusal with the reason.
 * When the task cannot be recorded the run goes on as a plain run.
 */
#include "supervisor/run/exec/runs_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/health/health.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/warm/residents.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/limits.h"
#include "supervisor/run/record/run_row.h"
#include "supervisor/runtime/runtime.h"

#define NO_LEASE "its database has not heard of it for a while"
#define CANCEL_GRACE_MAX_MS 60000
#define LUA_FILES_PART 4 /* divides the memory: the part for files */
#define LUA_FILES_MAX ((int64_t)256 << 20) /* far below what a body may have */

static int64_t lower_limit(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t runs_ttl(const struct runs *s, const struct requestor *q)
{
	int64_t ttl = s->ctx->config->run_ttl_ms;

	if (q != NULL && q->section->run_ttl_ms > 0)
		return lower_limit(q->section->run_ttl_ms, ttl);
	return q != NULL && q->section->max_ttl_ms > 0
		   ? lower_limit(q->section->max_ttl_ms, ttl)
		   : ttl;
}

static void set_task(const struct runs *s, struct run *r,
		     const struct run_wish *wish)
{
	const struct config *c = s->ctx->config;
	int64_t own = r->requestor->section->max_ttl_ms;
	int64_t ttl =
	    wish->task_ttl_ms > 0 ? wish->task_ttl_ms : c->default_ttl_ms;

	r->task.form = wish->task;
	if (wish->task == STORE_TASK_NONE)
		return;
	r->task.capabilities = json_object_get(wish->task_capabilities);
	r->task.ttl_ms =
	    lower_limit(own > 0 ? lower_limit(ttl, own) : ttl, c->max_ttl_ms);
	r->task.expires_ms = r->created_ms + r->task.ttl_ms;
}

void runs_set_limits(const struct runs *s, struct run *r, int64_t timeout_ms,
		     int64_t ttl_ms)
{
	limits_set(r, s->ctx->config, timeout_ms);
	r->limits.cancel_grace_ms = lower_limit(
	    r->template->limits.cancel_grace_ms, CANCEL_GRACE_MAX_MS);
	r->limits.ttl_ms = runs_ttl(s, r->requestor);
	if (ttl_ms > 0)
		r->limits.ttl_ms = lower_limit(ttl_ms, r->limits.ttl_ms);
}

static bool refuse_draining(const struct requestor *q, struct tool_error *r)
{
	tool_error_set(r, "QUEUE_FULL",
		       admission_details("max_queued_runs",
					 (int64_t)q->lane.queued, 0, "runs",
					 "the operator: the server is stopping",
					 ADMISSION_RETRY_MS),
		       "the server is being shut down and takes no more runs");
	return false;
}

/* A new run's way to its start. */
struct start {
	bool now; /* the server has room for a further run now */
	/* the error {errorCode, message} where other servers alone may start the run */
	struct json_object *lack;
};

/* Can T run here? A called run may go to another server: then *LACK is the error here. */
static bool can_run(const struct runs *s, const struct template *t,
		    const struct run_wish *wish, struct json_object **lack,
		    struct tool_error *r)
{
	const struct cluster *c = s->ctx->cluster;

	if (programs_allow(t, s->ctx->config, s->ctx->isolation, r) &&
	    s->ops->may_run(t, s->ctx->config, r))
		return true;
	/* a missing permission is no reason to ask other servers */
	if (wish->parent == NULL || c == NULL || t->secret ||
	    strcmp(r->code, "PERMISSION_NOT_ALLOWED") == 0 || !c->has_others(s))
		return false;
	*lack = json_pack("errorCode:s message:s", r->code, r->message);
	tool_error_fini(r);
	return true;
}

/* May Q make a run of T? */
static bool may_create(struct runs *s, struct requestor *q,
		       const struct template *t, const struct run_wish *wish,
		       size_t inputs_len, struct start *start,
		       struct tool_error *r)
{
	struct admission ask = {.config = s->ctx->config,
				.sched = &s->sched,
				.shared = s->ctx->others,
				.bytes = inputs_len};
	const struct run *parent = wish->parent;
	const char *sick;

	if (parent != NULL && !runs_may_call(s, parent, r))
		return false;
	if (s->ctx->draining && parent == NULL)
		return refuse_draining(q, r);
	store_begin(s->ctx->store);
	sick = health_state(s->ctx->config, s->ctx->store);
	start->now = runs_can_start(s);
	ask.starts =
	    start->now && (parent != NULL || runs_may_try_start(s, NULL)) &&
	    sched_is_clear(&s->sched, &q->lane, t->runtime,
			   parent != NULL ? parent->family.depth + 1 : 0);
	if (!q->usage_asked)
		artifact_save_count(s->ctx->store, q);
	if (!grants_allow(t, s->ctx->config, r) ||
	    !grants_secrets_allow(t, s->ctx->config, q->name, r) ||
	    !can_run(s, t, wish, &start->lack, r))
		return false;
	if (sick != NULL || !runs_has_lease(s))
		tool_error_set(r, "STORE_UNAVAILABLE",
			       admission_store_details(),
			       "the server cannot record runs now: %s",
			       sick != NULL ? sick : NO_LEASE);
	return r->code == NULL && admission_check_run(&ask, q, r);
}

struct stored { /* the argument of on_stored() */
	struct runs *runs;
	char id[ID_SIZE];
	bool promised;
	bool awaited; /* tell also of a failed write */
};

/*
 * Note in R whether R has a row, by the result RC of a write. A write whose
 * answer from a database server was lost may have taken effect.
 */
static void note_row(const struct runs *s, struct run *r, int rc)
{
	bool unanswered = rc != -EEXIST && s->ctx->cluster != NULL;

	run_record_row(r, rc == 0      ? ROW_COMMITTED
			  : unanswered ? ROW_UNANSWERED
				       : ROW_REFUSED);
}

static void on_stored(void *arg, const struct store_result *res)
{
	struct stored st = *(struct stored *)arg;
	struct run *r = runs_by_id(st.runs, st.id);
	const struct cluster *c = st.runs->ctx->cluster;
	struct run_notice n = {.kind = NOTICE_DURABLE};

	free(arg);
	st.runs->awaited -= st.awaited;
	if (r == NULL)
		return;
	r->remote.most = 0;
	note_row(st.runs, r, res->rc);
	if (res->rc != 0 && (st.promised || r->remote.place == RUN_QUEUE)) {
		/* the client was told to call again with the same key, and must
		   not get R then; a row with the key loses the key at R's end */
		r->record.refused = true;
		free(r->idem.key);
		r->idem.key = NULL;
	}
	if (c != NULL && !c->queued(st.runs, r, res->rc))
		return;
	if (res->rc != 0) {
		n.unrecorded = store_says(res->rc);
		r->kept.bytes = 0; /* no row has the inputs */
	}
	if (res->rc == 0 || st.promised || st.awaited)
		run_tell(r, &n);
	if (res->rc != 0 && st.promised)
		runs_cancel(st.runs, r);
}

static void put_new_row(struct runs *s, struct run *r,
			enum store_urgency urgency, bool promised, bool awaited)
{
	struct stored *st = xcalloc(1, sizeof(*st));

	*st = (struct stored){
	    .runs = s, .promised = promised, .awaited = awaited};
	memcpy(st->id, r->id, sizeof(st->id));
	s->awaited += awaited;
	run_row_put(s->ctx->store, r, urgency, on_stored, st);
}

void runs_record(struct runs *s, struct run *r)
{
	put_new_row(s, r, STORE_SYNC, false, true);
}

/*
 * Do the files fit? A worker that is sent whole files has them in its memory,
 * and needs room beside the files.
 */
static bool files_fit(const struct run *r, const struct run_files *files,
		      struct tool_error *e)
{
	int64_t most =
	    lower_limit(r->limits.memory_bytes / LUA_FILES_PART, LUA_FILES_MAX);
	int64_t used = files != NULL ? run_files_bytes(files, true) : 0;
	char *who;

	if (runtimes[r->template->runtime]->sees_host || used <= most)
		return true;
	who = limits_who_can_raise(r, LIMIT_MEMORY);
	tool_error_set(
	    e, "RESOURCE_LIMIT",
	    limits_details(r, LIMIT_MEMORY, used * LUA_FILES_PART),
	    "the files have %lld bytes together, and %s, which is "
	    "of %s and has them in its memory, is given at most "
	    "%lld: a part in %d of its memory; who can raise that is "
	    "%s",
	    (long long)used, r->template->id,
	    runtimes[r->template->runtime]->title, (long long)most,
	    LUA_FILES_PART, who);
	free(who);
	return false;
}

/*
 * Queue R, which cannot start at once. Where any instance may start R, a call
 * that may become a task becomes a task now: later another instance would own
 * the row.
 */
static void set_aside(struct runs *s, struct run *r,
		      const struct run_wish *wish)
{
	struct run_wish task = *wish;

	/* a server that ends has a child at once, since the parent is awaited */
	if (wish->parent != NULL && s->ctx->draining &&
	    r->remote.lack == NULL && residents_live_here(s->ctx->residents, r))
		return;
	/* the row of a run at another server is of use while the parent has a row */
	if (wish->parent != NULL && s->ctx->cluster != NULL &&
	    !run_is_durable(wish->parent))
		runs_record(s, wish->parent);
	r->remote.asks_here = wish->asks_here;
	if (s->ctx->cluster != NULL)
		s->ctx->cluster->set_aside(s, r);
	if (run_is_here(r) || r->remote.pinned ||
	    wish->task_later == STORE_TASK_NONE)
		return;
	task.task = wish->task_later;
	set_task(s, r, &task);
}

/* Make the new run R a child of the run that calls. False: E says why not. */
static bool join_parent(const struct runs *s, struct run *r,
			const struct run_wish *wish, struct tool_error *e)
{
	struct run *parent = wish->parent;
	int64_t left;

	r->family.allows_writes = wish->allows_writes;
	r->family.journal.id = xstrdup_opt(wish->journal);
	r->family.journal.resumes =
	    wish->journal != NULL &&
	    (parent == NULL || run_journal_resumes(parent));
	if (parent == NULL)
		return true;
	left = run_left_ms(parent);
	if (left < r->limits.timeout_ms) {
		r->limits.timeout_ms = left > 1 ? left : 1;
		r->limits.by[LIMIT_TIMEOUT] = BY_CALLER;
	}
	if (!runs_may_wait_for(s, parent, r, e))
		return false;
	run_family_join(r, parent);
	return true;
}

/*
 * May the queued R start at once, being the next? The place that a parent lends is for
 * children, so that other servers' runs have no turn before a child.
 */
static bool is_next(const struct runs *s, const struct run *r, bool can_start)
{
	return can_start && !r->job.queued.aside && r->remote.lack == NULL &&
	       (r->family.parent != NULL ||
		runs_may_try_start(s, r->idem.key)) &&
	       sched_next(&s->sched) == &r->job.queued;
}

static struct run *create(struct runs *s, struct requestor *requestor,
			  struct template *template, struct json_object *inputs,
			  const struct run_wish *wish,
			  struct tool_error *tool_error)
{
	struct run *r;
	struct start start = {0};
	bool starts = false;
	size_t len = wish->inputs_len;
	const char *text = wish->inputs_text;
	const char *notebook;

	if (text == NULL)
		text = json_text(inputs, &len);
	if (!may_create(s, requestor, template, wish, len, &start,
			tool_error) ||
	    !residents_name(template, inputs, &notebook, tool_error)) {
		json_object_put(start.lack);
		return NULL;
	}
	if (!requestor->has_made_runs && requestor->section->name == NULL) {
		s->unlisted++;
		s->sched.known++;
	}
	requestor->has_made_runs = true;
	r = run_new(requestor, template);
	runs_set_limits(s, r, wish->timeout_ms, wish->ttl_ms);
	r->notebook.name = xstrdup_opt(notebook);
	r->remote.lack = start.lack;
	if (!files_fit(r, wish->files, tool_error) ||
	    !join_parent(s, r, wish, tool_error)) {
		run_free(r);
		return NULL;
	}
	r->files = wish->files;
	r->inputs =
	    text == wish->inputs_text ? wish->inputs_text : xstrndup(text, len);
	r->inputs_len = len;
	if (wish->retried_from != NULL)
		snprintf(r->retried_from, sizeof(r->retried_from), "%s",
			 wish->retried_from);
	r->session_id = xstrdup_opt(wish->session_id);
	r->trust = wish->trust;
	if (wish->trace != NULL)
		snprintf(r->trace, sizeof(r->trace), "%s", wish->trace);
	r->idem.key = xstrdup_opt(wish->idem_key);
	r->idem.digest = xstrdup_opt(wish->idem_digest);
	set_task(s, r, wish);
	run_row_keep_inputs(r, inputs, s->ctx->config);
	HASH_ADD_STR(s->by_id, id, r);
	audit_run("run_created", r);
	if (residents_live_here(s->ctx->residents, r))
		runs_enqueue(s, r);
	else /* the server where the resident lives, or will, claims R */
		runs_enqueue_aside(s, r);
	if (is_next(s, r, start.now))
		starts = runs_files_here(s, r);
	else
		set_aside(s, r, wish);
	if (starts) /* the first row of R says "running" already */
		run_apply(r, EV_START);
	put_new_row(s, r,
		    wish->promised || r->remote.place == RUN_QUEUE
			? STORE_SYNC
			: STORE_DEFERRED,
		    wish->promised, false);
	if (starts)
		runs_start(s, r);
	runs_remote_poll(s);
	return r;
}

struct run *runs_create(struct runs *s, struct requestor *requestor,
			struct template *template, struct json_object *inputs,
			const struct run_wish *wish,
			struct tool_error *tool_error)
{
	struct run *r;

	if (wish->parent != NULL)
		runs_lend(s, wish->parent);
	r = create(s, requestor, template, inputs, wish, tool_error);
	if (wish->parent != NULL && wish->parent->family.n_open == 0)
		runs_take_back(s, wish->parent);
	else if (wish->parent != NULL && r != NULL && r->state == RUN_QUEUED)
		runs_pump(s); /* another run may start in the lent place */
	return r;
}

/* ---- a run becomes a task ---- */

static void on_task_stored(void *arg, const struct store_result *res)
{
	struct run_ref *ref = arg;
	struct runs *s = ref->runs;
	struct run *r = runs_referred(ref);
	struct run_notice n = {.kind = NOTICE_TASK};

	if (r == NULL) /* R waits in the shared queue again */
		return;
	note_row(s, r, res->rc);
	if (res->rc != 0) {
		n.unrecorded = store_says(res->rc);
		log_warn("runs", "run=%s requestor=%s task=no err=\"%s\"",
			 r->id, r->requestor->name, res->errmsg);
		run_clear_task(r);
	}
	r->task.pending = false;
	run_tell(r, &n);
}

void runs_make_task(struct runs *s, struct run *r, const struct run_wish *wish)
{
	struct run_notice no = {.kind = NOTICE_TASK,
				.unrecorded = "another server has the run"};

	if (r->remote.place == RUN_REMOTE) {
		run_tell(r, &no);
		return;
	}
	run_clear_task(r); /* a task whose time has passed */
	set_task(s, r, wish);
	r->task.pending = true;
	run_row_put(s->ctx->store, r, STORE_SYNC, on_task_stored,
		    runs_refer(s, r));
}
