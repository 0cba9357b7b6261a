/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_park.c - parks a run that waits for an answer while no client waits for
 * the run: a Lua worker is stopped, its time does not count, and another run
 * gets its place. A program keeps place and time, since the program may
 * compute. input_park.c calls. A run beyond the limit is refused with the
 * limit's name; nothing else fails.
 */
#include "supervisor/run/exec/runs_private.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/requestor/admission.h"

#define WORKERS_LEFT (ZYGOTE_PROTO_SLOTS / 4)

/*
 * Refuse to park a run of Q. The refusal has Q's own figure and the bound, and
 * no figure of other requestors.
 */
static void refuse_park(const struct requestor *q, int64_t own, int64_t all,
			struct tool_error *e)
{
	int64_t used = (int64_t)q->parked;
	char *who = own > 0
			? xasprintf("the operator: max_parked_runs in "
				    "[requestor \"%s\"]",
				    q->name)
			: xstrdup("the operator: max_parked_runs in [limits]");

	tool_error_set(e, "QUOTA_EXCEEDED",
		       admission_details("max_parked_runs", used,
					 own > 0 ? own : all, "runs", who,
					 ADMISSION_RETRY_MS),
		       "no more of your runs may wait for answers now "
		       "(max_parked_runs): %lld of yours do; answer some, or "
		       "ask the operator for more",
		       (long long)used);
	free(who);
}

bool runs_may_park(const struct runs *s, const struct run *r,
		   struct tool_error *e)
{
	const struct requestor *q = r->requestor;
	const struct config *c = s->ctx->config;
	int64_t own = q->section->max_parked_runs;
	/* a parked run keeps a worker, and enough are left for running runs */
	int64_t spare = ZYGOTE_PROTO_SLOTS - c->max_concurrent_runs;
	int64_t most = spare > WORKERS_LEFT ? spare : WORKERS_LEFT;
	int64_t all = c->max_parked_runs < most ? c->max_parked_runs : most;
	int64_t used = (int64_t)q->parked;
	int64_t theirs = (int64_t)s->parked - used;
	int64_t left = s->ctx->others ? admission_share(all, theirs) : all;

	if (own > 0 && used >= own)
		refuse_park(q, own, all, e);
	else if (used >= left)
		refuse_park(q, 0, all, e);
	return e->code == NULL;
}

void runs_park(struct runs *s, struct run *r)
{
	assert(!r->job.parked.is && r->job.worker != NULL);
	r->job.parked.is = true;
	r->requestor->parked++;
	s->parked++;
	if (r->job.queued.lane != NULL) /* still parked since the last time */
		sched_remove(&s->sched, &r->job.queued);
	else if (!r->job.parked.stopped && !r->family.lends && worker_stop(r)) {
		r->job.parked.stopped = true;
		r->job.parked.since_ms = clock_mono_ms();
		s->stopped++;
		sched_over(&s->sched, &r->requestor->lane);
		runs_pump(s);
	}
	if (s->ctx->draining)
		runs_drain_parked(s);
}

void runs_go_on(struct runs *s, struct run *r)
{
	int64_t rested_ms = clock_mono_ms() - r->job.parked.since_ms;

	r->job.parked.stopped = false;
	r->job.parked.rested_ms += rested_ms;
	s->stopped--;
	worker_continue(r, rested_ms);
	if (r->family.n_open > 0) /* made while R was stopped */
		runs_lend(s, r);
}

void runs_unpark(struct runs *s, struct run *r)
{
	if (r->job.parked.is) {
		r->job.parked.is = false;
		r->requestor->parked--;
		s->parked--;
	}
	if (!r->job.parked.stopped)
		return;
	/* R waits for a place, unless R is to end */
	if (worker_is_alive(r) &&
	    (r->state == RUN_RUNNING || r->state == RUN_AWAITING_INPUT) &&
	    !s->ctx->draining && !runs_has_place(s, r)) {
		runs_await_place(s, r);
		return;
	}
	if (r->state == RUN_CANCELLING && !runs_has_place(s, r))
		worker_end(r); /* many would run for their grace at once */
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	sched_again(&s->sched, &r->requestor->lane);
	runs_go_on(s, r);
}

void runs_end_parked(struct runs *s, struct run *r)
{
	if (!r->job.parked.is || r->job.worker == NULL)
		return;
	run_set_error(r, "INPUT_TIMEOUT", NULL,
		      "no client came back with the answers within "
		      "input_wait_ms, which is %lld ms and the operator's to "
		      "raise",
		      (long long)s->ctx->config->input_wait_ms);
	worker_end(r);
}

void runs_drain_parked(struct runs *s)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		if (!r->job.parked.is || r->job.worker == NULL) {
			runs_unpark(s, r);
			continue;
		}
		run_set_error(r, "RUN_INTERRUPTED", NULL,
			      "the server was stopped while the run waited for "
			      "answers");
		worker_end(r);
	}
}
