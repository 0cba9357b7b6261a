/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/input/input_private.h"

#include <stdlib.h>

#include "base/clock.h"
#include "proto/json/json.h"
#include "supervisor/run/audit.h"
#include "supervisor/session/request.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/session/session.h"
#include "supervisor/session/task_notify.h"
#include "supervisor/methods/tasks.h"

#define UNHEARD                                                                \
	"nobody waits for this run's answer, so nobody can be asked: "         \
	"call the tool as a task, or without mode async"

static bool is_task(const struct run *r)
{
	return r->task.form != STORE_TASK_NONE;
}

bool input_wanted(const struct pending *p)
{
	return p->job == NULL && worker_awaits(p->input->run, p->seq);
}

/* ---- how it ends ---- */

void input_end(struct pending *p)
{
	LIST_REMOVE(p, link);
	p->input->bytes -= p->bytes;
	input_read_cancel(p);
	question_fini(&p->q);
	if (p->expiry != NULL)
		event_free(p->expiry);
	free(p);
}

void input_tell(struct pending *p, const struct input_reply *reply)
{
	struct run *r = p->input->run;
	uint32_t seq = p->seq;

	input_end(p);
	audit_input(reply->ok ? "input_answered" : "input_refused", r, seq,
		    reply->how);
	worker_answer_ask(r, seq, reply->ok, reply->text, reply->len);
}

void input_take_back(struct pending *p, const char *reason)
{
	if (p->asked != NULL)
		client_task_drop(p->asked, p->session->over ? NULL : reason);
	p->asked = NULL;
	p->call = NULL;
}

/* ---- whom it is asked of ---- */

void input_fail(struct pending *p, const char *what)
{
	struct refusal why = {0};

	refuse(&why, "INPUT_FAILED", NULL, "%s", what);
	input_give_up(p, &why);
}

static void on_done(void *arg, enum client_task_end end,
		    struct rpc_msg *m, const char *why)
{
	struct pending *p = arg;

	p->asked = NULL;
	p->call = NULL;
	switch (end) {
	case CLIENT_TASK_RESULT:
	case CLIENT_TASK_REFUSED:
		input_read(p, p->session->requestor, m);
		break;
	case CLIENT_TASK_FAILED:
		input_fail(p, why);
		break;
	case CLIENT_TASK_GONE: /* somebody else, then */
		input_offer(p);
		break;
	}
}

void input_put(struct pending *p, struct session *s, struct call *c)
{
	struct run *r = p->input->run;
	int64_t left = p->expires_mono_ms - clock_mono_ms();
	struct json_object *params =
	    question_params(&p->q, s, is_task(r) ? r->id : NULL);

	if (session_behind(s)) {
		json_object_put(params);
		input_fail(p, "the client does not read what it is sent");
		return;
	}
	p->call = c;
	p->session = s;
	p->was_asked = true;
	p->asked = client_task_ask(s, c != NULL ? c->route : NULL,
				   question_method(&p->q), params,
				   left > 0 ? left : 1, on_done, p);
	json_object_put(params);
	if (p->asked == NULL)
		input_fail(p, "too much is asked of this client already");
	else
		audit_input("input_asked", r, p->seq, question_method(&p->q));
}

/* A task's call has been answered: who waits asks for the result. */
static struct call *next_waiting(const struct run *r, const struct call *c)
{
	return is_task(r) ? tasks_waiting(r, c) : call_waiting(r, c);
}

/*
 * Who waits for R's result and can be asked P, best of all one who reads; else
 * *WHY not. Many may be of one session.
 */
static struct call *waiting_for(struct pending *p, const char **why)
{
	const struct session *able = NULL, *unable = NULL;
	struct call *c = NULL, *unheard = NULL;

	while ((c = next_waiting(p->input->run, c)) != NULL) {
		const struct session *s = c->session;
		const char *lacks;

		if (s->over || s == unable)
			continue;
		lacks = s == able ? NULL : question_lacks(&p->q, s);
		if (lacks != NULL) {
			unable = s;
			*why = lacks;
			continue;
		}
		able = s;
		if (session_heard(s, c->route))
			return c;
		if (unheard == NULL)
			unheard = c;
	}
	return unheard;
}

void input_move(struct pending *p)
{
	const char *why = NULL;
	struct call *c;

	if (p->asked == NULL || !input_wanted(p) ||
	    session_heard(p->session, p->call != NULL ? p->call->route : NULL))
		return;
	c = waiting_for(p, &why);
	if (c == NULL || !session_heard(c->session, c->route))
		return;
	input_take_back(p, "who waits now is asked instead");
	input_put(p, c->session, c);
}

static void offer_plain(struct pending *p)
{
	const char *why = NULL;
	struct call *c = waiting_for(p, &why);
	struct refusal refusal = {0};

	if (c != NULL) {
		input_put(p, c->session, c);
	} else if (p->was_asked) {
		input_fail(p, "the client that was asked is gone");
	} else {
		question_refuse(&p->q, why != NULL ? why : UNHEARD, &refusal);
		input_give_up(p, &refusal);
	}
}

/* Its maker, by what belongs to no request; else who waits; else later. */
static void offer_task(struct pending *p)
{
	struct session *maker = task_feed_session(p->input->run);
	bool there = maker != NULL && !maker->over;
	const char *why = there ? question_lacks(&p->q, maker) : NULL;
	bool able = there && why == NULL;
	struct refusal refusal = {0};
	struct call *c;

	if (!p->input->known)
		return; /* too early to be understood */
	if (able && session_reachable(maker)) {
		input_put(p, maker, NULL);
		return;
	}
	c = waiting_for(p, &why);
	if (c != NULL) {
		input_put(p, c->session, c);
	} else if (there && !able) {
		question_refuse(&p->q, why, &refusal);
		input_give_up(p, &refusal);
	} /* else it is held, until somebody waits or can be reached */
}

void input_offer(struct pending *p)
{
	if (!input_wanted(p))
		return;
	if (is_task(p->input->run))
		offer_task(p);
	else
		offer_plain(p);
}
