/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_output.c - takes the output of a worker that has ended to the run's
 * outcome: a thread parses a large output, and checks an output whose check is
 * expensive. worker.c calls when a worker is reaped. A failure becomes the
 * run's error.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/run/outcome.h"
#include "supervisor/run/threads/output_parse.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/validation.h"

/* A large output that is being read, or waits for room. */
struct reading {
	struct runs *runs;
	struct run *run;
	struct exit_facts end;	   /* owns the output until it is read */
	TAILQ_ENTRY(reading) link; /* in runs.trees.waiting */
};

static struct memory_account *output_account(const struct reading *rd)
{
	return &rd->run->requestor->memory;
}

/* ---- room for results, as trees ---- */

#define VALUE_MOST 320 /* bytes that a value may take: see json_cost_most() */

#define TEXTS 2 /* the tree's own text, and the copy that is stored */

/* Return how many bytes of memory the trees of all results may take. */
static size_t trees_most(const struct runs *s)
{
	return (size_t)memory_of_results(s->ctx->config->server_memory);
}

/*
 * Return how many values a result of LEN bytes may have, so that its tree alone
 * fits; 0: no such result fits.
 */
static size_t values_most(const struct runs *s, size_t len)
{
	size_t all = trees_most(s), values;

	if (len > all / TEXTS)
		return 0;
	values = (all - TEXTS * len) / VALUE_MOST;
	return values < JSON_VALUES_MAX ? values : JSON_VALUES_MAX;
}

/* Return how much memory the parse of LEN unread bytes may take at the most. */
static size_t tree_most(const struct runs *s, size_t len)
{
	size_t values = len / 2 + 1, most = values_most(s, len);

	return (values < most ? values : most) * VALUE_MOST + TEXTS * len;
}

/* R's output takes BYTES of memory from now on. */
static void count_tree(struct runs *s, struct run *r, size_t bytes)
{
	bool less = bytes < r->job.tree_bytes;

	s->trees.held += bytes - r->job.tree_bytes;
	r->job.tree_bytes = bytes;
	if (less && !TAILQ_EMPTY(&s->trees.waiting))
		event_active(s->trees.on_room, 0, 0);
}

void runs_output_put(struct runs *s, struct run *r)
{
	rpc_async_put(s->ctx->thread_pool, r->requestor, r->output.value);
	r->output.value = NULL;
	count_tree(s, r, 0);
}

/* The thread has checked R's output, and returns the output. */
static void on_checked(void *arg, const struct validation *c,
		       struct json_object *tree)
{
	struct run *r = arg;
	struct runs *s = r->job.checked_by;

	r->job.checked = NULL;
	r->output.value = tree;
	sched_over(&s->sched, &r->requestor->lane);
	runs_finish(s, r, outcome_validated(r, c));
	runs_resume(s);
}

static void refuse_more(struct run *r)
{
	struct tool_error errmsg = {0};

	validation_refuse_busy(&errmsg);
	run_set_error(r, "RESOURCE_LIMIT", json_object_get(errmsg.details),
		      "%s", errmsg.message);
	tool_error_fini(&errmsg);
}

/* R's output has no room, even alone. */
static void refuse_large(const struct runs *s, struct run *r)
{
	run_set_error(r, "RESOURCE_LIMIT", NULL,
		      "the result takes more memory to be read than the %lld "
		      "bytes that this server has for results (who can raise "
		      "that is the operator: server_memory in [limits])",
		      (long long)trees_most(s));
}

/*
 * Check R's output on a thread. R goes on without a worker until the check is
 * over, and keeps its place among the running runs, since the output is in
 * memory.
 */
static void check_later(struct runs *s, struct run *r,
			const struct validation *c)
{
	struct json_object *v = outcome_output(r), *tree = r->output.value;

	r->output.value = NULL;
	r->job.checked_by = s;
	r->job.checked =
	    validation_submit(s->ctx->thread_pool, r->requestor, c, r->template,
			      r->template->outputs, v, tree, on_checked, r);
	if (r->job.checked != NULL)
		return;
	r->output.value = tree;
	runs_output_put(s, r);
	free(r->output.text);
	r->output.text = NULL;
	sched_over(&s->sched, &r->requestor->lane);
	refuse_more(r);
	runs_finish(s, r, EV_FAIL);
}

/* Stop waiting for R's output; the check frees the output. */
void runs_output_drop(struct runs *s, struct run *r)
{
	runs_begin_drop(s, r);
	runs_look_drop(s, r);
	if (r->job.checked == NULL && r->job.reading_arg == NULL)
		return;
	if (r->job.checked != NULL)
		validation_cancel(r->job.checked);
	if (r->job.reading != NULL) {
		output_parse_cancel(r->job.reading);
		memory_give(
		    output_account(r->job.reading_arg),
		    ((struct reading *)r->job.reading_arg)->end.output_len);
	} else if (r->job.reading_arg != NULL) {
		/* the output waits for room */
		struct reading *rd = r->job.reading_arg;

		TAILQ_REMOVE(&s->trees.waiting, rd, link);
		memory_give(output_account(rd), rd->end.output_len);
		free(rd->end.output);
	}
	free(r->job.reading_arg);
	count_tree(s, r, 0);
	free(r->output.text);
	r->output.text = NULL;
	r->job.checked = NULL;
	r->job.reading = NULL;
	r->job.reading_arg = NULL;
	sched_over(&s->sched, &r->requestor->lane);
}

/* Decide how R ended: R's worker is gone, with the facts E. */
static void settle_output(struct runs *s, struct run *r,
			  const struct exit_facts *e)
{
	struct validation c;
	enum run_event ev = outcome_of(r, e, &c);
	const char *code = r->error.code;

	/* a worker that crashed may have been probing: new addresses */
	if (code != NULL && (strcmp(code, "WORKER_CRASHED") == 0 ||
			     strcmp(code, "SANDBOX_VIOLATION") == 0))
		spawner_renew(s->ctx->spawner, r->template->runtime);
	if (ev == RUN_EVENTS && r->state == RUN_CANCELLING)
		ev = EV_FAIL; /* no client will see the output */
	if (ev == RUN_EVENTS) {
		check_later(s, r, &c);
	} else {
		sched_over(&s->sched, &r->requestor->lane);
		if ((s->ctx->cluster == NULL ||
		     !s->ctx->cluster->keeps(s, r)) &&
		    (ev != EV_FAIL || !runs_retry(s, r)))
			runs_finish(s, r, ev);
	}
	runs_resume(s);
}

/* ---- a large output is read before that ---- */

static void on_read(void *arg, struct output_parsed *out)
{
	struct reading *rd = arg;
	struct run *r = rd->run;
	struct exit_facts *e = &rd->end;

	r->job.reading = NULL;
	r->job.reading_arg = NULL;
	memory_give(output_account(rd), e->output_len);
	count_tree(rd->runs, r,
		   out->tree != NULL ? out->cost + TEXTS * out->len : 0);
	r->output.value = out->tree;
	r->output.text = out->text;
	r->output.len = out->len;
	out->tree = NULL;
	out->text = NULL;
	e->content_at = out->content_at;
	e->content_expected = out->content_expected;
	e->reply_failed =
	    r->output.is_reply && output_parse_reply_failed(r->output.value);
	if (out->too_many &&
	    values_most(rd->runs, e->output_len) < JSON_VALUES_MAX)
		refuse_large(rd->runs, r);
	else if (out->fault != NULL)
		outcome_bad_result(r, out->fault, out->errmsg);
	settle_output(rd->runs, r, e);
	free(rd);
}

static void read_now(struct reading *rd)
{
	struct runs *s = rd->runs;
	struct run *r = rd->run;
	char *text = rd->end.output;

	rd->end.output = NULL;
	count_tree(s, r, tree_most(s, rd->end.output_len));
	r->job.reading =
	    output_parse(s->ctx->thread_pool, r->requestor, text,
			 rd->end.output_len, values_most(s, rd->end.output_len),
			 r->output.is_reply, on_read, rd);
	if (r->job.reading != NULL)
		return;
	memory_give(output_account(rd), rd->end.output_len);
	r->job.reading_arg = NULL;
	count_tree(s, r, 0);
	refuse_more(r);
	settle_output(s, r, &rd->end);
	free(rd);
}

/* Read the next outputs, as far as there is room. */
static void on_room(evutil_socket_t fd, short what, void *arg)
{
	struct runs *s = arg;
	struct reading *rd;

	(void)fd, (void)what;
	while ((rd = TAILQ_FIRST(&s->trees.waiting)) != NULL) {
		size_t all = trees_most(s);
		size_t bytes = tree_most(s, rd->end.output_len);

		/* a reload may have left less than a waiting result needs */
		if (s->trees.held > 0 &&
		    (bytes > all || s->trees.held > all - bytes))
			return;
		TAILQ_REMOVE(&s->trees.waiting, rd, link);
		read_now(rd);
	}
}

void runs_output_init(struct runs *s)
{
	TAILQ_INIT(&s->trees.waiting);
	s->trees.on_room = event_new(s->ctx->base, -1, 0, on_room, s);
}

void runs_output_fini(struct runs *s)
{
	event_free(s->trees.on_room);
}

/*
 * End R before R's worker is gone, if that is simple. Not simple: a failed run
 * may be tried again, a large output takes a thread's time, and the owner of R
 * is known only when the worker is gone.
 */
bool runs_worker_leaving(void *arg, struct run *r, const struct exit_facts *e)
{
	struct runs *s = arg;
	struct validation c;
	enum run_event ev;

	if (s->ctx->cluster != NULL || r->job.parked.is)
		return false;
	ev = outcome_of(r, e, &c);
	if (ev != EV_SUCCEED && ev != EV_PARTIAL)
		return false;
	runs_finish(s, r, ev);
	return true;
}

void runs_worker_gone(void *arg, struct run *r, const struct exit_facts *e)
{
	struct runs *s = arg;
	struct run_use used = outcome_used(r, e);

	requestor_charge(r->requestor, used.cpu_ms);
	runs_take_back(s, r);
	sched_over(&s->sched, &r->requestor->lane);
	runs_finish_gone(s, r, &used);
	runs_resume(s);
}

void runs_worker_ended(void *arg, struct run *r, const struct exit_facts *e)
{
	struct runs *s = arg;
	struct reading *rd;

	runs_unpark(s, r);
	runs_take_back(s, r);
	r->use = outcome_used(r, e);
	requestor_charge(r->requestor, r->use.cpu_ms);
	if (e->output != NULL && r->error.code == NULL &&
	    r->state != RUN_CANCELLING) {
		if (values_most(s, e->output_len) > 0) {
			rd = xcalloc(1, sizeof(*rd));
			*rd = (struct reading){.runs = s, .run = r, .end = *e};
			r->job.reading_arg = rd;
			memory_add(output_account(rd), e->output_len);
			TAILQ_INSERT_TAIL(&s->trees.waiting, rd, link);
			event_active(s->trees.on_room, 0, 0);
			return;
		}
		refuse_large(s, r);
	}
	free(e->output);
	settle_output(s, r, e);
}
