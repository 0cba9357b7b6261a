/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - all questions of one run: a new question, its expiry, and the
 * effect of a waiter's coming and leaving and of the run's end. The worker's
 * reader asks through server.c. A question becomes an error, caught by the
 * template, when no client can be asked or the answer comes too late.
 */
#include "supervisor/mcp/input/input.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/run/audit.h"
#include "supervisor/session/request.h"
#include "supervisor/mcp/input/input_private.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/session/session.h"

#define PENDING_BYTES_MAX (4u << 20) /* the questions of a run */

/* ---- open questions ---- */

static void drop_all(struct input *in, const char *reason)
{
	struct pending_input *p, *after;

	for (p = LIST_FIRST(&in->pending); p != NULL; p = after) {
		after = LIST_NEXT(p, link);
		input_withdraw(p, reason);
		input_end(p);
	}
}

/*
 * Find the next question by number: an answer may end other questions, or free
 * R's input, so no pointer is kept.
 */
static struct pending_input *older(const struct run *r, uint32_t seq)
{
	struct pending_input *p;

	if (r->job.input == NULL)
		return NULL;
	LIST_FOREACH(p, &r->job.input->pending, link)
		if (p->seq < seq)
			break;
	return p;
}

static void route_held(struct run *r)
{
	struct pending_input *p = older(r, UINT32_MAX);

	for (uint32_t seq; p != NULL; p = older(r, seq)) {
		seq = p->seq;
		if (p->asked == NULL)
			input_route(p);
	}
}

/* ---- the run's notices and waiters ---- */

static void input_free(struct input *in)
{
	drop_all(in, "the run has ended");
	run_watch_del(&in->watch);
	input_gather_fini(in);
	if (in->grace != NULL)
		event_free(in->grace);
	in->run->job.input = NULL;
	in->run->on_waiter = NULL;
	free(in);
}

/*
 * A run.on_waiter. When a waiter comes, ask held questions, and questions whose
 * client does not read. When a waiter leaves, or does not read, ask another
 * client. REQ NULL: the session of R's maker.
 */
static void on_waiter(struct run *r, enum run_waiter_event ev,
		      struct request *req)
{
	struct pending_input *p = older(r, UINT32_MAX);

	for (uint32_t seq; p != NULL; p = older(r, seq)) {
		seq = p->seq;
		if (ev == WAITER_CAME && p->asked == NULL) {
			input_route(p);
		} else if (ev != WAITER_LEFT) {
			input_reroute(p);
		} else if (p->request == req) {
			input_withdraw(
			    p, "the request that it belongs to is over");
			input_route(p);
		}
	}
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct input *in = CONTAINER(w, struct input, watch);

	/* queued: the next attempt's worker has asked nothing yet */
	if (n->kind == NOTICE_ENDED || n->kind == NOTICE_RELEASED ||
	    r->state == RUN_QUEUED) {
		input_free(in);
		return;
	}
	if (n->kind == NOTICE_ASKED)
		return;
	if (r->state != RUN_AWAITING_INPUT)
		input_unpark(r);
	if (r->state == RUN_CANCELLING)
		drop_all(in, "the run is being cancelled");
	else if (r->state != RUN_AWAITING_INPUT)
		drop_all(in, "the run has ended");
}

static struct input *input_of(struct context *ctx, struct run *r)
{
	struct input *in = r->job.input;

	if (in != NULL)
		return in;
	in = r->job.input = xcalloc(1, sizeof(*in));
	in->ctx = ctx;
	in->run = r;
	in->watch.on_notice = on_notice;
	LIST_INIT(&in->pending);
	run_watch_add(r, &in->watch);
	r->on_waiter = on_waiter;
	return in;
}

/* ---- a new question ---- */

static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
	struct pending_input *p = arg;
	struct tool_error errmsg = {0};

	(void)fd, (void)what;
	input_withdraw(p, "no answer came in time");
	tool_error_set(&errmsg, "INPUT_TIMEOUT", NULL,
		       "no answer came in time; the template can allow more by "
		       "timeoutMs, up to what is left of the run's timeout");
	input_reject(p, &errmsg);
}

static void start_expiry(struct pending_input *p)
{
	const struct run *r = p->input->run;
	int64_t now = clock_mono_ms();
	int64_t left = run_left_ms(r);
	int64_t ms = p->q.timeout_ms < left ? p->q.timeout_ms : left;

	ms = ms > 0 ? ms : 1;
	p->asked_mono_ms = now;
	p->expires_mono_ms = now + ms;
	p->expiry = evtimer_new(p->input->ctx->base, on_expiry, p);
	evtimer_add(p->expiry, CLOCK_TIMEVAL(ms));
}

void input_ask(struct context *ctx, struct run *r,
	       const struct worker_question *ask)
{
	struct tool_error errmsg = {0};
	struct pending_input *p;

	p = xcalloc(1, sizeof(*p));
	p->input = input_of(ctx, r);
	p->seq = ask->seq;
	json_text(ask->params, &p->bytes);
	p->input->bytes += p->bytes;
	LIST_INSERT_HEAD(&p->input->pending, p, link);
	if (!input_request_init(&p->q, ask, &errmsg)) {
		input_reject(p, &errmsg);
		return;
	}
	if (p->input->bytes > PENDING_BYTES_MAX) {
		input_fail(p,
			   "over 4 MiB of questions wait for answers, which is "
			   "fixed");
		return;
	}
	input_name(p);
	start_expiry(p);
	input_route(p);
	run_tell(r, &(struct run_notice){.kind = NOTICE_ASKED});
}

void input_cancel(struct context *ctx, struct run *r, uint32_t seq)
{
	struct pending_input *p;

	(void)ctx;
	if (r->job.input == NULL)
		return;
	LIST_FOREACH(p, &r->job.input->pending, link)
		if (p->seq == seq)
			break;
	if (p == NULL)
		return;
	audit_input("input_dropped", r, seq, NULL);
	input_withdraw(p, "the template waits for no answer any more");
	input_end(p);
}

/* ---- tasks ---- */

static void on_grace_over(evutil_socket_t fd, short what, void *arg)
{
	struct input *in = arg;

	(void)fd, (void)what;
	in->run->task.known = true;
	route_held(in->run);
}

void input_task_told(struct context *ctx, struct run *r)
{
	struct input *in;

	/* the run has ended before, and asks nothing more */
	if (run_terminal(r))
		return;
	in = input_of(ctx, r);
	if (r->task.known || in->grace != NULL)
		return;
	in->grace = evtimer_new(ctx->base, on_grace_over, in);
	evtimer_add(in->grace, CLOCK_TIMEVAL(INPUT_TASK_GRACE_MS));
}

void input_task_known(struct run *r)
{
	if (r->task.known)
		return;
	r->task.known = true;
	route_held(r);
}
