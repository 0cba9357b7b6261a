/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/exec/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/limits.h"
#include "supervisor/threads/validation.h"
#include "supervisor/exec/artifact_save.h"
#include "supervisor/grants/grants.h"
#include "supervisor/health/health.h"
#include "supervisor/threads/rpc_async.h"
#include "supervisor/threads/output_parse.h"
#include "supervisor/exec/programs.h"
#include "supervisor/run/run_row.h"
#include "supervisor/exec/runs_private.h"
#include "supervisor/run/outcome.h"

#define CANCEL_GRACE_MAX_MS 60000

/* ---- workers ---- */

static void on_artifact(void *arg, struct run *r, struct run_artifact *a,
			char *tmp_path, const char *sha256)
{
	struct runs *s = arg;

	artifact_save(s, s->env.store, r, a, tmp_path, sha256);
}

/* call of a thread's: R's output has been checked, and is given back. */
static void on_checked(void *arg, const struct validation *c,
		       struct json_object *tree)
{
	struct run *r = arg;
	struct runs *s = r->checked_by;

	r->checked = NULL;
	r->result = tree;
	sched_over(&s->sched, &r->requestor->lane);
	runs_finish(s, r, outcome_validated(r, c));
	runs_resume(s);
}

/* R has no output any more. */
static void forget_output(struct run *r)
{
	free(r->result_text);
	r->result_text = NULL;
}

static void refuse_more(struct run *r)
{
	struct tool_error errmsg = {0};

	validation_refuse_busy(&errmsg);
	run_set_error(r, "RESOURCE_LIMIT", json_object_get(errmsg.details),
		      "%s", errmsg.message);
	tool_error_fini(&errmsg);
}

/*
 * That takes a while: until it is known, R goes on without a worker. It has its
 * place among the running until then, for its output is in memory.
 */
static void check_later(struct runs *s, struct run *r,
			const struct validation *c)
{
	struct json_object *v = outcome_output(r), *tree = r->result;

	r->result = NULL;
	r->checked_by = s;
	r->checked =
	    validation_submit(s->env.thread_pool, r->requestor, c, r->template,
			      r->template->outputs, v, tree, on_checked, r);
	if (r->checked != NULL)
		return;
	rpc_async_put(s->env.thread_pool, r->requestor, tree);
	forget_output(r);
	sched_over(&s->sched, &r->requestor->lane);
	refuse_more(r);
	runs_finish(s, r, EV_FAIL);
}

/* R's output is not awaited any more; it goes with the check. */
static void check_no_more(struct runs *s, struct run *r)
{
	if (r->checked == NULL && r->reading == NULL)
		return;
	if (r->checked != NULL)
		validation_cancel(r->checked);
	if (r->reading != NULL)
		output_parse_cancel(r->reading);
	free(r->reading_arg);
	forget_output(r);
	r->checked = NULL;
	r->reading = NULL;
	r->reading_arg = NULL;
	sched_over(&s->sched, &r->requestor->lane);
}

/* R's worker is gone, and E all there is to know of it. */
static void settle(struct runs *s, struct run *r, const struct exit_facts *e)
{
	struct validation c;
	enum run_event ev = outcome_of(r, e, &c);
	const char *code = r->error.code;

	/* a worker that crashed may have been probing: new addresses */
	if (code != NULL && (strcmp(code, "WORKER_CRASHED") == 0 ||
			     strcmp(code, "SANDBOX_VIOLATION") == 0))
		spawner_renew(s->env.spawner, programs_kind(r->template));
	if (ev == RUN_EVENTS && r->state == RUN_CANCELLING)
		ev = EV_FAIL; /* nobody will see it */
	if (ev == RUN_EVENTS) {
		check_later(s, r, &c);
	} else {
		sched_over(&s->sched, &r->requestor->lane);
		runs_finish(s, r, ev);
	}
	runs_resume(s);
}

/* ---- a large output is read before that ---- */

struct reading {
	struct runs *runs;
	struct run *run;
	struct exit_facts end;
};

static void on_read(void *arg, struct output_parsed *out)
{
	struct reading *rd = arg;
	struct run *r = rd->run;
	struct exit_facts *e = &rd->end;

	r->reading = NULL;
	r->reading_arg = NULL;
	r->result = out->tree;
	r->result_text = out->text;
	r->result_len = out->len;
	out->tree = NULL;
	out->text = NULL;
	e->content_at = out->content_at;
	e->content_expected = out->content_expected;
	e->reply_failed = r->is_reply && json_object_get_boolean(
					     json_member(r->result, "isError"));
	if (out->fault != NULL)
		outcome_bad_result(r, out->fault, out->errmsg);
	settle(rd->runs, r, e);
	free(rd);
}

static void read_later(struct runs *s, struct run *r,
		       const struct exit_facts *e)
{
	struct reading *rd = xcalloc(1, sizeof(*rd));

	*rd = (struct reading){s, r, *e};
	rd->end.output = NULL;
	r->reading = output_parse(s->env.thread_pool, r->requestor, e->output,
				  e->output_len, r->is_reply, on_read, rd);
	if (r->reading != NULL) {
		r->reading_arg = rd;
		return;
	}
	refuse_more(r);
	settle(s, r, &rd->end);
	free(rd);
}

static void on_over(void *arg, struct run *r, const struct exit_facts *e)
{
	outcome_usage(r, e);
	requestor_charge(r->requestor, r->use.cpu_ms);
	if (e->output != NULL && r->error.code == NULL &&
	    r->state != RUN_CANCELLING) {
		read_later(arg, r, e);
		return;
	}
	free(e->output);
	settle(arg, r, e);
}

static void on_not_started(void *arg, struct run *r, int err)
{
	runs_not_started(arg, r, err);
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
	limits_set(r, s->env.config, timeout_ms);
	r->limits.cancel_grace_ms =
	    least(r->template->limits.cancel_grace_ms, CANCEL_GRACE_MAX_MS);
	r->limits.ttl_ms = cap_ttl(s, r, ttl_ms);
}

static bool may_create(struct runs *s, struct requestor *q,
		       const struct template *t, size_t inputs_len,
		       struct tool_error *r)
{
	const char *sick = health_state(s->env.config, s->env.store);
	const struct admission ask = {
	    .config = s->env.config,
	    .sched = &s->sched,
	    .shared = s->env.shared,
	    .starts = runs_can_start(s) &&
		      sched_is_clear(&s->sched, &q->lane, programs_kind(t)),
	    .bytes = inputs_len,
	};

	if (!q->usage_asked)
		artifact_save_count(s->env.store, q);
	if (!grants_allow(t, s->env.config, r) ||
	    !programs_allow(t, s->env.config, s->env.isolation, r) ||
	    !s->env.may_run(s->env.arg, t, r))
		return false;
	if (*s->env.draining)
		tool_error_set(
		    r, "QUEUE_FULL",
		    admission_details("max_queued_runs",
				      (int64_t)q->lane.queued, 0, "runs",
				      "the operator: the server is stopping",
				      ADMISSION_RETRY_MS),
		    "the server is being shut down and takes no more runs");
	else if (sick != NULL)
		tool_error_set(r, "STORE_UNAVAILABLE",
			       admission_store_details(),
			       "the server cannot record runs now: %s", sick);
	return r->code == NULL && admission_check_run(&ask, q, r);
}

struct stored { /* of a new row's request */
	struct runs *runs;
	struct run *run; /* it lives until its terminal row, which is later */
	bool promised;
};

static void on_stored(void *arg, const struct store_result *res)
{
	struct stored *st = arg;
	struct run_notice n = {.kind = NOTICE_DURABLE};

	st->run->durable = res->rc == 0;
	if (res->rc != 0)
		n.unrecorded = store_says(res->rc);
	if (res->rc == 0 || st->promised)
		run_tell(st->run, &n);
	if (res->rc != 0 && st->promised)
		runs_cancel(st->runs, st->run);
	free(st);
}

struct run *runs_create(struct runs *s, struct requestor *requestor,
			struct template *template, struct json_object *inputs,
			const struct run_wish *wish,
			struct tool_error *tool_error)
{
	struct stored *st;
	struct run *r;
	bool starts;
	size_t len = wish->inputs_len;
	const char *text = wish->inputs_text;

	if (text == NULL)
		text = json_text(inputs, &len);
	if (!may_create(s, requestor, template, len, tool_error))
		return NULL;
	if (!requestor->has_made_runs && requestor->section->name == NULL)
		s->strangers++;
	requestor->has_made_runs = true;
	r = run_new(requestor, template);
	r->inputs =
	    text == wish->inputs_text ? wish->inputs_text : xstrndup(text, len);
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
	*st = (struct stored){s, r, wish->promised};
	runs_enqueue(s, r);
	runs_remote_poll(s);
	starts = runs_next(s) == r;
	if (starts) /* its first row says running already */
		run_apply(r, EV_START);
	run_row_put(s->env.store, r,
		    wish->promised ? STORE_SYNC : STORE_DEFERRED, on_stored,
		    st);
	if (starts)
		runs_start(s, r);
	return r;
}

/* ---- look-up, cancel ---- */

struct run *runs_find(struct runs *s, const struct requestor *requestor,
		      const char *id)
{
	struct run *r;

	HASH_FIND_STR(s->by_id, id, r);
	return r != NULL && r->requestor == requestor && !run_terminal(r)
		   ? r
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
	/* queued, or for a new zygote, or for its output to be checked */
	bool waits = r->worker == NULL;

	if (run_terminal(r) || r->state == RUN_CANCELLING)
		return -EALREADY;
	log_info("run", "run=%s requestor=%s cancel=asked", r->id,
		 r->requestor->name);
	audit_run("run_cancel_asked", r);
	check_no_more(s, r);
	if (r->queued.lane != NULL)
		sched_remove(&s->sched, &r->queued);
	if (r->state == RUN_QUEUED) {
		runs_finish(s, r, EV_CANCEL);
		return 0;
	}
	run_apply(r, EV_CANCEL);
	/* should we die before it ends, it was cancelled all the same */
	run_row_put(s->env.store, r, STORE_SYNC, NULL, NULL);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
	if (waits) {
		runs_finish(s, r, EV_FAIL);
		runs_resume(s);
	} else {
		worker_cancel(r);
	}
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
		runs_enqueue(s, r);
		again++;
	}
	if (res->n_runs + res->interrupted > 0)
		log_info("runs", "recovered queued=%zu interrupted=%zu", again,
			 res->interrupted + res->n_runs - again);
	if (again > 0) /* their owners may have died before they were read */
		runs_remote_read(s);
	runs_pump(s);
}

void runs_interrupt(struct runs *s, bool queued)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		if (run_terminal(r) ||
		    (r->state == RUN_QUEUED && (!queued || r->taken_over)))
			continue;
		run_set_error(
		    r, "RUN_INTERRUPTED", NULL,
		    "the server was stopped before the run had ended");
		if (r->worker != NULL)
			continue; /* spawner_stop() ends it, and on_over() comes */
		check_no_more(s, r);
		if (r->queued.lane != NULL)
			sched_remove(&s->sched, &r->queued);
		runs_finish(s, r, EV_FAIL);
	}
}

void runs_tell_unrecorded(struct runs *s, const char *errmsg)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		if (!run_terminal(r) || TAILQ_EMPTY(&r->watches))
			continue;
		run_tell(r, &(struct run_notice){.kind = NOTICE_RECORDED,
						 .unrecorded = errmsg});
	}
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
	    .spawner = env->spawner,
	    .on_artifact = on_artifact,
	    .on_ask = env->on_ask,
	    .on_drop = env->on_drop,
	    .ask_arg = env->arg,
	    .on_over = on_over,
	    .on_not_started = on_not_started,
	    .arg = s,
	    .state_dir = s->state_dir,
	    .config = env->config,
	    .turns = env->turns,
	    .instance = env->instance,
	};
	runs_queue_init(s);
	runs_remote_init(s);
	return s;
}

void runs_free(struct runs *s)
{
	struct run *r, *after;

	if (s == NULL)
		return;
	HASH_ITER(hh, s->by_id, r, after)
		runs_forget(s, r);
	runs_remote_fini(s);
	runs_queue_fini(s);
	free(s->state_dir);
	free(s);
}
