/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_route.c - chooses the client for a question, sends the question there,
 * and chooses again when the client leaves; input.c and input_reply.c call it.
 * Where no client can be asked the question is held, or the template gets the
 * reason at once.
 */
#include "supervisor/mcp/input/input_private.h"

#include <stdlib.h>

#include "base/clock.h"
#include "proto/json/json.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/session/request.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/session/session.h"
#include "supervisor/session/task_notify.h"

#define NOBODY_WAITS                                                           \
	"nobody waits for this run's answer, so nobody can be asked: "         \
	"call the tool as a task, or without mode async"

static bool is_task(const struct run *r)
{
	return r->task.form != STORE_TASK_NONE;
}

/*
 * Does the template still wait for an answer to P, and has no answer come? If
 * not, P ends soon.
 */
static bool input_is_wanted(const struct pending_input *p)
{
	return p->job == NULL && worker_awaits(p->input->run, p->seq);
}

/* ---- the end of a question ---- */

void input_end(struct pending_input *p)
{
	LIST_REMOVE(p, link);
	p->input->bytes -= p->bytes;
	input_reply_cancel(p);
	input_request_fini(&p->q);
	if (p->expiry != NULL)
		event_free(p->expiry);
	free(p);
}

void input_answer(struct pending_input *p, const struct input_reply *reply)
{
	struct run *r = p->input->run;
	uint32_t seq = p->seq;

	input_end(p);
	audit_input(reply->ok ? "input_answered" : "input_refused", r, seq,
		    reply->how);
	worker_answer_question(r, seq, reply->ok, reply->text, reply->len);
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
	struct run *r = p->input->run;
	int64_t left = p->expires_mono_ms - clock_mono_ms();
	struct json_object *params = input_request_params(
	    &p->q, s->terms.revision, is_task(r) ? r->id : NULL);

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
		audit_input("input_asked", r, p->seq,
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

void input_reroute(struct pending_input *p)
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

/*
 * No waiter at this server can be asked P: can a waiter at another server be asked? If
 * not, *ERRMSG says why, when a client waits there.
 */
static bool waits_elsewhere(struct pending_input *p, const char **errmsg)
{
	const struct cluster *c = p->input->ctx->cluster;
	const char *lacks =
	    c != NULL ? c->missing(p->input->run, &p->q) : CLUSTER_NO_WAITER;

	if (lacks != NULL && lacks[0] != '\0')
		*errmsg = lacks;
	return lacks == NULL;
}

static void offer_plain(struct pending_input *p)
{
	const char *errmsg = NULL;
	struct request *req = waiting_for(p, &errmsg);
	struct tool_error tool_error = {0};

	if (req != NULL ? takes_along(req) : waits_elsewhere(p, &errmsg)) {
		p->was_asked = true;
		input_gather(p->input);
	} else if (req != NULL) {
		input_send(p, req->session, req);
	} else if (p->input->run->job.parked.is) {
		return; /* a client will be back */
	} else if (p->was_asked) {
		input_fail(p, "the client that was asked is gone");
	} else {
		input_request_refuse(
		    &p->q, errmsg != NULL ? errmsg : NOBODY_WAITS, &tool_error);
		input_reject(p, &tool_error);
	}
}

/*
 * Returns the capability that the client of P's task, which reads questions by
 * tasks/get, has not declared; or NULL.
 */
static const char *missing_reader(const struct pending_input *p)
{
	const struct client_terms terms = {
	    .revision = MCP_LATEST,
	    .capabilities = p->input->run->task.capabilities};

	return terms.capabilities != NULL ? input_request_missing(&p->q, &terms)
					  : NULL;
}

/*
 * Ask P of a task's maker, on the stream that belongs to no request; else of a
 * waiter; else hold P.
 */
static void offer_task(struct pending_input *p)
{
	struct session *maker = task_notify_session(p->input->run);
	bool there = maker != NULL && !maker->over;
	const char *errmsg = there ? missing_capability(p, maker, &maker->terms)
				   : missing_reader(p);
	bool unable = errmsg != NULL;
	struct tool_error tool_error = {0};
	struct request *req;

	if (!p->input->run->task.known)
		return; /* the client does not know the task yet */
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
	if (is_task(p->input->run))
		offer_task(p);
	else
		offer_plain(p);
}
