/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - all questions of one run: a new question, the client that is asked, the
 * expiry, and the effect of a waiter's coming and leaving and of the run's end. The
 * worker's reader asks through server.c. Where no client can be asked, a question is
 * held, or becomes an error, caught by the template, as when the answer comes too late.
 */
#include "supervisor/mcp/input/input.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/mcp/input/input_private.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/session/request.h"
#include "supervisor/session/session.h"
#include "supervisor/session/task_notify.h"

#define PENDING_BYTES_MAX (4u << 20) /* the questions of a run */
#define NOBODY_WAITS                                                           \
	"nobody waits for this run's answer, so nobody can be asked: "         \
	"call the tool as a task, or without mode async"
#define CAME_FROM_ELSEWHERE                                                    \
	"the run was called at another server than this one, which has the "   \
	"notebook, so nobody can be asked here: call the tool as a task"

/*
 * Does the template still wait for an answer to P, and has no answer come? If
 * not, P ends soon.
 */
static bool input_is_wanted(const struct pending_input *p)
{
	return p->job == NULL &&
	       (p->there != NULL ? p->asker->state == RUN_AWAITING_INPUT
				 : worker_awaits(p->asker, p->seq));
}

/* ---- the end of a question ---- */

/* Count the questions of runs that IN's run called: IN's run waits for answers, too. */
static void count_called(struct input *in, int by)
{
	in->n_called += (size_t)by;
	worker_await_called(in->run, in->n_called > 0);
}

void input_end(struct pending_input *p)
{
	LIST_REMOVE(p, link);
	p->input->bytes -= p->bytes;
	if (p->watch.run != NULL) {
		run_watch_del(&p->watch);
		count_called(p->input, -1);
	}
	input_reply_cancel(p);
	input_request_fini(&p->q);
	if (p->there != NULL)
		memory_give(&p->asker->requestor->memory, p->bytes);
	free(p->there);
	if (p->expiry != NULL)
		event_free(p->expiry);
	free(p);
}

void input_answer(struct pending_input *p, const struct input_reply *reply)
{
	struct run *r = p->input->run, *asker = p->asker;
	struct context *ctx = p->input->ctx;
	enum worker_question_kind kind = p->q.kind;
	uint32_t seq = p->seq;
	char *there = p->there;

	p->there = NULL;
	if (there != NULL)
		memory_give(&asker->requestor->memory, p->bytes);
	input_end(p);
	audit_input(reply->ok ? "input_answered" : "input_refused", asker, seq,
		    reply->how);
	if (there != NULL)
		input_relay_answer(ctx, asker, there, kind, reply);
	else
		worker_answer_question(asker, seq, reply->ok, reply->text,
				       reply->len);
	free(there);
	run_tell(r, &(struct run_notice){.kind = NOTICE_ASKED});
}

void input_withdraw(struct pending_input *p, const char *reason)
{
	if (p->asked != NULL)
		client_task_drop(p->asked, p->session->over ? NULL : reason);
	p->asked = NULL;
	p->request = NULL;
}

/* ---- the asked client ---- */

void input_fail(struct pending_input *p, const char *what)
{
	struct tool_error errmsg = {0};

	tool_error_set(&errmsg, "INPUT_FAILED", NULL, "%s", what);
	input_reject(p, &errmsg);
}

static void on_done(void *arg, enum client_task_end end, struct rpc_msg *m,
		    const char *errmsg)
{
	struct pending_input *p = arg;

	p->asked = NULL;
	p->request = NULL;
	switch (end) {
	case CLIENT_TASK_RESULT:
	case CLIENT_TASK_REFUSED:
		input_reply_read(p, p->session->requestor, m);
		break;
	case CLIENT_TASK_FAILED:
		input_fail(p, errmsg);
		break;
	case CLIENT_TASK_GONE: /* try another client */
		input_route(p);
		break;
	}
}

/*
 * Ask P of the client of S: on REQ's stream, or (REQ NULL) on the stream that
 * belongs to no request.
 */
static void input_send(struct pending_input *p, struct session *s,
		       struct request *req)
{
	const struct run *r = p->input->run;
	int64_t left = p->expires_mono_ms - clock_mono_ms();
	struct json_object *params = input_request_params(
	    &p->q, s->terms.revision,
	    r->task.form != STORE_TASK_NONE ? r->id : NULL);

	if (session_is_backlogged(s)) {
		json_object_put(params);
		input_fail(p, "the client does not read what it is sent");
		return;
	}
	p->request = req;
	p->session = s;
	p->was_asked = true;
	p->asked = client_task_ask(s, req != NULL ? req->stream : NULL,
				   input_request_method(&p->q), params,
				   left > 0 ? left : 1, on_done, p);
	json_object_put(params);
	if (p->asked == NULL)
		input_fail(p, "too much is asked of this client already");
	else
		audit_input("input_asked", p->asker, p->seq,
			    input_request_method(&p->q));
}

/*
 * NULL: the client of S with the terms T (a request may have its own) can be
 * asked P. Else the reason why it cannot.
 */
static const char *missing_capability(const struct pending_input *p,
				      const struct session *s,
				      const struct client_terms *t)
{
	return t != &s->terms || s->initialized
		   ? input_request_missing(&p->q, t)
		   : "the client has not sent notifications/initialized";
}

/* Does REQ take questions along and come back (a revision without sessions)? */
static bool takes_along(const struct request *req)
{
	return mcp_has(req->terms->revision, MCP_STATELESS);
}

/*
 * Returns a waiter for the run that can be asked P, if possible a waiter that
 * reads its stream. NULL: *ERRMSG says why, if there are waiters. Many waiters
 * may be of one session: equal terms are checked once.
 */
static struct request *waiting_for(struct pending_input *p, const char **errmsg)
{
	const struct client_terms *able = NULL, *unable = NULL;
	struct request *unread = NULL;
	struct run_waiter *w;

	TAILQ_FOREACH(w, &p->input->run->waiters, link) {
		struct request *req = w->request;
		const struct session *s = req->session;
		const char *lacks;

		if (s->over || req->terms == unable)
			continue;
		lacks = req->terms == able
			    ? NULL
			    : missing_capability(p, s, req->terms);
		if (lacks != NULL) {
			unable = req->terms;
			*errmsg = lacks;
			continue;
		}
		able = req->terms;
		if (session_has_reader(s, req->stream))
			return req;
		if (unread == NULL)
			unread = req;
	}
	return unread;
}

/*
 * When the client that was asked P does not read: ask another that reads, if any.
 */
static void reroute(struct pending_input *p)
{
	const char *errmsg = NULL;
	struct request *req;

	if (p->asked == NULL || !input_is_wanted(p) ||
	    session_has_reader(p->session,
			       p->request != NULL ? p->request->stream : NULL))
		return;
	req = waiting_for(p, &errmsg);
	if (req == NULL || takes_along(req) ||
	    !session_has_reader(req->session, req->stream))
		return;
	input_withdraw(p, "who waits now is asked instead");
	input_send(p, req->session, req);
}

static const char *why_nobody(const struct run *r)
{
	return r->notebook.name != NULL && r->remote.home[0] != '\0'
		   ? CAME_FROM_ELSEWHERE
		   : NOBODY_WAITS;
}

static void offer_plain(struct pending_input *p)
{
	const struct cluster *c = p->input->ctx->cluster;
	const char *errmsg = NULL, *lacks;
	struct request *req = waiting_for(p, &errmsg);
	struct tool_error tool_error = {0};
	bool along = req != NULL && takes_along(req);

	if (req == NULL && c != NULL) {
		/* a waiter at another server? */
		lacks = c->missing(p->input->run, &p->q);
		along = lacks == NULL;
		if (lacks != NULL && lacks[0] != '\0')
			errmsg = lacks;
	}
	if (along) {
		p->was_asked = true;
		input_gather(p->input);
	} else if (req != NULL) {
		input_send(p, req->session, req);
	} else if (p->input->run->job.parked.is ||
		   p->input->run->family.caller_at[0] != '\0') {
		return; /* a client will be back, or the caller's server asks */
	} else if (p->was_asked) {
		input_fail(p, "the client that was asked is gone");
	} else {
		input_request_refuse(
		    &p->q, errmsg != NULL ? errmsg : why_nobody(p->input->run),
		    &tool_error);
		input_reject(p, &tool_error);
	}
}

/*
 * Ask P of a task's maker, on the stream that belongs to no request; else of a
 * waiter; else hold P.
 */
static void offer_task(struct pending_input *p)
{
	struct session *maker = task_notify_session(p->input->run);
	bool there = maker != NULL && !maker->over, unable;
	/* of the task's client, which reads questions by tasks/get */
	const struct client_terms reader = {
	    .revision = MCP_LATEST,
	    .capabilities = p->input->run->task.capabilities};
	struct tool_error tool_error = {0};
	const char *errmsg = NULL;
	struct request *req;

	if (!p->input->run->task.known)
		return; /* the client does not know the task yet */
	if (there)
		errmsg = missing_capability(p, maker, &maker->terms);
	else if (reader.capabilities != NULL)
		errmsg = input_request_missing(&p->q, &reader);
	unable = errmsg != NULL;
	if (there && !unable && session_has_push_stream(maker)) {
		input_send(p, maker, NULL);
		return;
	}
	req = waiting_for(p, &errmsg);
	if (req != NULL && !takes_along(req)) {
		input_send(p, req->session, req);
	} else if (unable) {
		input_request_refuse(&p->q, errmsg, &tool_error);
		input_reject(p, &tool_error);
	} /* else P is held until a client waits or can be reached */
}

void input_route(struct pending_input *p)
{
	if (!input_is_wanted(p))
		return;
	if (p->input->run->task.form != STORE_TASK_NONE)
		offer_task(p);
	else
		offer_plain(p);
}

/* ---- open questions ---- */

/* Drop the questions of ASKER in IN; NULL: of all runs. */
static void drop_all(struct input *in, const struct run *asker,
		     const char *reason)
{
	struct pending_input *p, *after;

	for (p = LIST_FIRST(&in->pending); p != NULL; p = after) {
		after = LIST_NEXT(p, link);
		if (asker != NULL && p->asker != asker)
			continue;
		input_withdraw(p, reason);
		input_end(p);
	}
}

/*
 * Find the next question by number: an answer may end other questions, or free
 * R's input, so no pointer is kept.
 */
static struct pending_input *older(const struct run *r, uint32_t no)
{
	struct pending_input *p;

	if (r->job.input == NULL)
		return NULL;
	LIST_FOREACH(p, &r->job.input->pending, link)
		if (p->no < no)
			break;
	return p;
}

static void route_held(struct run *r)
{
	struct pending_input *p = older(r, UINT32_MAX);

	for (uint32_t no; p != NULL; p = older(r, no)) {
		no = p->no;
		if (p->asked == NULL)
			input_route(p);
	}
}

/* ---- the run's notices and waiters ---- */

static void input_free(struct input *in)
{
	drop_all(in, NULL, "the run has ended");
	run_watch_del(&in->watch);
	input_unpark(in->run);
	if (in->gather != NULL)
		event_free(in->gather);
	if (in->parked != NULL)
		event_free(in->parked);
	json_object_put(in->keys);
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

	for (uint32_t no; p != NULL; p = older(r, no)) {
		no = p->no;
		if (ev == WAITER_CAME && p->asked == NULL) {
			input_route(p);
		} else if (ev != WAITER_LEFT) {
			reroute(p);
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
		drop_all(in, NULL, "the run is being cancelled");
	else if (r->state != RUN_AWAITING_INPUT)
		drop_all(in, r, "the run has ended");
}

/* News of a called run that asks: does the run still wait for an answer? */
static void on_asker(struct run_watch *w, struct run *r,
		     const struct run_notice *n)
{
	struct pending_input *p = CONTAINER(w, struct pending_input, watch);
	struct run *top = p->input->run;

	(void)n;
	if (r->state == RUN_AWAITING_INPUT)
		return;
	input_withdraw(p, "the run has ended");
	input_end(p);
	run_tell(top, &(struct run_notice){.kind = NOTICE_ASKED});
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

struct pending_input *input_hold(struct context *ctx, struct run *asker,
				 const struct worker_question *ask,
				 const char *there)
{
	struct pending_input *p = xcalloc(1, sizeof(*p));

	p->input = input_of(ctx, run_family_outermost(asker));
	p->asker = asker;
	p->seq = ask->seq;
	p->no = ++p->input->last;
	json_text(ask->params, &p->bytes);
	p->input->bytes += p->bytes;
	p->there = xstrdup_opt(there);
	if (there != NULL)
		memory_add(&asker->requestor->memory, p->bytes);
	LIST_INSERT_HEAD(&p->input->pending, p, link);
	if (asker != p->input->run) {
		p->watch.on_notice = on_asker;
		run_watch_add(asker, &p->watch);
		count_called(p->input, 1);
	}
	return p;
}

void input_begin(struct pending_input *p, const struct worker_question *ask,
		 int64_t left_ms)
{
	int64_t now = clock_mono_ms(), ms;
	struct tool_error errmsg = {0};
	struct run *top = p->input->run;

	if (!input_request_init(&p->q, ask, &errmsg)) {
		input_reject(p, &errmsg);
		return;
	}
	if (p->input->n_called > MSG_ASKS_MAX) {
		input_fail(
		    p, "64 questions of called runs wait for answers, which "
		       "is fixed");
		return;
	}
	if (p->input->bytes > PENDING_BYTES_MAX) {
		input_fail(p,
			   "over 4 MiB of questions wait for answers, which is "
			   "fixed");
		return;
	}
	input_name(p);
	ms = p->q.timeout_ms < left_ms ? p->q.timeout_ms : left_ms;
	ms = ms > 0 ? ms : 1;
	p->asked_mono_ms = now;
	p->expires_mono_ms = now + ms;
	p->expiry = evtimer_new(p->input->ctx->base, on_expiry, p);
	evtimer_add(p->expiry, CLOCK_TIMEVAL(ms));
	input_route(p);
	run_tell(top, &(struct run_notice){.kind = NOTICE_ASKED});
}

void input_ask(struct context *ctx, struct run *r,
	       const struct worker_question *ask)
{
	input_begin(input_hold(ctx, r, ask, NULL), ask, run_left_ms(r));
}

void input_cancel(struct context *ctx, struct run *r, uint32_t seq)
{
	const struct input *in = run_family_outermost(r)->job.input;
	struct pending_input *p;

	(void)ctx;
	if (in == NULL)
		return;
	LIST_FOREACH(p, &in->pending, link)
		if (p->asker == r && p->seq == seq)
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
