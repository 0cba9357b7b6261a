#include "supervisor/input.h"

#include <event2/event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/json.h"
#include "supervisor/audit.h"
#include "supervisor/call.h"
#include "supervisor/client_task.h"
#include "supervisor/question.h"
#include "supervisor/refusal.h"
#include "supervisor/session.h"
#include "supervisor/task_feed.h"
#include "supervisor/tasks.h"

#define UNHEARD                                                                \
	"nobody waits for this run's answer, so nobody can be asked: "         \
	"call the tool as a task, or without mode async"

#define PENDING_BYTES_MAX (4u << 20) /* of one run's questions */

/* One question without an answer, in input.pending. */
struct pending {
	struct input *input;
	uint32_t seq;
	struct question q;
	int64_t expires_mono_ms;
	struct event *expiry;
	struct client_task *asked; /* NULL: it is held */
	struct call *call; /* by whose route; compared, and not looked into */
	struct session *session; /* that it is asked of */
	bool was_asked;
	size_t bytes; /* of what is asked, as text */
	LIST_ENTRY(pending) link;
};

/* A run's; run.input. */
struct input {
	struct server *server;
	struct run *run; /* borrowed */
	struct run_watch watch;
	LIST_HEAD(pendings, pending) pending; /* MSG_ASKS_MAX at most */
	size_t bytes;	     /* of all that are pending */
	bool known;	     /* a task: its client knows it */
	struct event *grace; /* until it must */
};

static void offer(struct pending *p);

static bool is_task(const struct run *r)
{
	return r->task.form != STORE_TASK_NONE;
}

/* ---- the end of a question ---- */

static void pending_free(struct pending *p)
{
	LIST_REMOVE(p, link);
	p->input->bytes -= p->bytes;
	question_fini(&p->q);
	if (p->expiry != NULL)
		event_free(p->expiry);
	free(p);
}

static void answer_worker(struct run *r, uint32_t seq, bool ok,
			  struct json_object *answer)
{
	size_t len;
	const char *text = json_text(answer, &len);

	worker_answer_ask(r, seq, ok, text, len);
	json_object_put(answer);
}

/* WHY is emptied. */
static void refuse_worker(struct run *r, uint32_t seq, struct refusal *why)
{
	struct json_object *e = json_object_new_object();

	audit_input("input_refused", r, seq, why->code);
	json_object_object_add(e, "code", json_object_new_string(why->code));
	json_object_object_add(e, "message",
			       json_object_new_string(why->message));
	if (why->details != NULL)
		json_object_object_add(e, "details",
				       json_object_get(why->details));
	refusal_fini(why);
	answer_worker(r, seq, false, e);
}

/* P ends without an answer; it is asked of nobody now. */
static void give_up(struct pending *p, struct refusal *why)
{
	struct run *r = p->input->run;
	uint32_t seq = p->seq;

	pending_free(p);
	refuse_worker(r, seq, why);
}

static void take_back(struct pending *p, const char *reason)
{
	if (p->asked != NULL)
		client_task_drop(p->asked, p->session->over ? NULL : reason);
	p->asked = NULL;
	p->call = NULL;
}

static void drop_all(struct input *in, const char *reason)
{
	struct pending *p, *after;

	for (p = LIST_FIRST(&in->pending); p != NULL; p = after) {
		after = LIST_NEXT(p, link);
		take_back(p, reason);
		pending_free(p);
	}
}

static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
	struct pending *p = arg;
	struct refusal why = {0};

	(void)fd, (void)what;
	take_back(p, "no answer came in time");
	refuse(&why, "INPUT_TIMEOUT", NULL,
	       "no answer came in time; the template can allow more by "
	       "timeoutMs, up to what is left of the run's timeout");
	give_up(p, &why);
}

/* ---- asking ---- */

static void answered(struct pending *p, struct json_object *result)
{
	struct run *r = p->input->run;
	struct refusal why = {0};
	struct json_object *answer = question_answer(&p->q, result, &why);
	uint32_t seq = p->seq;

	if (answer == NULL) {
		give_up(p, &why);
		return;
	}
	pending_free(p);
	audit_input("input_answered", r, seq,
		    json_member_str(answer, "action"));
	answer_worker(r, seq, true, answer);
}

/* ERROR is the client's. */
static void refused(struct pending *p, struct json_object *error)
{
	const char *message = json_member_str(error, "message");
	struct json_object *code = json_member(error, "code");
	struct json_object *d = json_object_new_object();
	struct refusal why = {0};

	json_object_object_add(d, "code", json_object_get(code));
	json_object_object_add(
	    d, "message",
	    json_object_new_string(message != NULL ? message : ""));
	refuse(&why, "INPUT_FAILED", d, "the client answered with an error");
	give_up(p, &why);
}

static void failed(struct pending *p, const char *what)
{
	struct refusal why = {0};

	refuse(&why, "INPUT_FAILED", NULL, "%s", what);
	give_up(p, &why);
}

static void on_done(void *arg, enum client_task_end end,
		    struct json_object *value, const char *why)
{
	struct pending *p = arg;

	p->asked = NULL;
	p->call = NULL;
	switch (end) {
	case CLIENT_TASK_RESULT:
		answered(p, value);
		break;
	case CLIENT_TASK_REFUSED:
		refused(p, value);
		break;
	case CLIENT_TASK_FAILED:
		failed(p, why);
		break;
	case CLIENT_TASK_GONE: /* somebody else, then */
		offer(p);
		break;
	}
}

/* Ask P of S: by C's route, or (NULL) by what belongs to no request. */
static void ask(struct pending *p, struct session *s, struct call *c)
{
	struct run *r = p->input->run;
	int64_t left = p->expires_mono_ms - clock_mono_ms();
	struct json_object *params =
	    question_params(&p->q, s, is_task(r) ? r->id : NULL);

	if (session_behind(s)) {
		json_object_put(params);
		failed(p, "the client does not read what it is sent");
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
		failed(p, "too much is asked of this client already");
	else
		audit_input("input_asked", r, p->seq, question_method(&p->q));
}

/* A task's call has been answered: who waits asks for the result. */
static struct call *next_waiting(const struct run *r, const struct call *c)
{
	return is_task(r) ? tasks_waiting(r, c) : call_waiting(r, c);
}

/* Who waits for R's result and can be asked P; else *WHY not. */
static struct call *waiting_for(struct pending *p, const char **why)
{
	const struct session *looked_at = NULL; /* many calls may be of one */
	struct call *c = NULL;

	while ((c = next_waiting(p->input->run, c)) != NULL) {
		const char *lacks;

		if (c->session->over || c->session == looked_at)
			continue;
		looked_at = c->session;
		lacks = question_lacks(&p->q, c->session);
		if (lacks == NULL)
			return c;
		*why = lacks;
	}
	return NULL;
}

static void offer_plain(struct pending *p)
{
	const char *why = NULL;
	struct call *c = waiting_for(p, &why);
	struct refusal refusal = {0};

	if (c != NULL) {
		ask(p, c->session, c);
	} else if (p->was_asked) {
		failed(p, "the client that was asked is gone");
	} else {
		question_refuse(&p->q, why != NULL ? why : UNHEARD, &refusal);
		give_up(p, &refusal);
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
		ask(p, maker, NULL);
		return;
	}
	c = waiting_for(p, &why);
	if (c != NULL) {
		ask(p, c->session, c);
	} else if (there && !able) {
		question_refuse(&p->q, why, &refusal);
		give_up(p, &refusal);
	} /* else it is held, until somebody waits or can be reached */
}

static void offer(struct pending *p)
{
	if (is_task(p->input->run))
		offer_task(p);
	else
		offer_plain(p);
}

static void offer_held(struct input *in)
{
	struct pending *p, *after;

	for (p = LIST_FIRST(&in->pending); p != NULL; p = after) {
		after = LIST_NEXT(p, link);
		if (p->asked == NULL)
			offer(p);
	}
}

/* ---- what the run does meanwhile ---- */

static void input_free(struct input *in)
{
	if (in == NULL)
		return;
	drop_all(in, "the run has ended");
	run_watch_del(&in->watch);
	if (in->grace != NULL)
		event_free(in->grace);
	in->run->input = NULL;
	free(in);
}

void input_left(struct run *r, const struct call *c)
{
	struct input *in = r->input;
	struct pending *p, *after;

	if (in == NULL)
		return;
	for (p = LIST_FIRST(&in->pending); p != NULL; p = after) {
		after = LIST_NEXT(p, link);
		if (p->call != c)
			continue;
		take_back(p, "the request that it belongs to is over");
		offer(p);
	}
}

void input_reachable(struct run *r)
{
	if (r->input != NULL)
		offer_held(r->input);
}

static void on_news(struct run_watch *w, struct run *r, enum run_news news)
{
	struct input *in =
	    (struct input *)((char *)w - offsetof(struct input, watch));

	if (news == NEWS_ENDED)
		input_free(in);
	else if (r->state == RUN_CANCELLING)
		drop_all(in, "the run is being cancelled");
	else if (r->state != RUN_AWAITING_INPUT)
		drop_all(in, "the run has ended");
}

static struct input *input_of(struct server *srv, struct run *r)
{
	struct input *in = r->input;

	if (in != NULL)
		return in;
	in = r->input = xcalloc(1, sizeof(*in));
	in->server = srv;
	in->run = r;
	in->watch.on_news = on_news;
	LIST_INIT(&in->pending);
	run_watch_add(r, &in->watch);
	return in;
}

void input_forget(struct run *r)
{
	input_free(r->input);
}

/* ---- a new question ---- */

static void start_expiry(struct pending *p)
{
	const struct run *r = p->input->run;
	int64_t now = clock_mono_ms();
	int64_t left = r->started_mono_ms + r->limits.timeout_ms - now;
	int64_t ms = p->q.timeout_ms < left ? p->q.timeout_ms : left;
	struct timeval tv;

	ms = ms > 0 ? ms : 1;
	tv = (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	p->expires_mono_ms = now + ms;
	p->expiry = evtimer_new(p->input->server->base, on_expiry, p);
	evtimer_add(p->expiry, &tv);
}

void input_ask(void *arg, struct run *r, const struct worker_ask *ask)
{
	struct refusal why = {0};
	struct pending *p;

	p = xcalloc(1, sizeof(*p));
	p->input = input_of(arg, r);
	p->seq = ask->seq;
	json_text(ask->params, &p->bytes);
	p->input->bytes += p->bytes;
	LIST_INSERT_HEAD(&p->input->pending, p, link);
	if (!question_init(&p->q, ask, &why)) {
		give_up(p, &why);
		return;
	}
	if (p->input->bytes > PENDING_BYTES_MAX) {
		failed(p, "over 4 MiB of questions wait for answers, which is "
			  "fixed");
		return;
	}
	start_expiry(p);
	offer(p);
}

void input_drop(void *arg, struct run *r, uint32_t seq)
{
	struct pending *p;

	(void)arg;
	if (r->input == NULL)
		return;
	LIST_FOREACH(p, &r->input->pending, link)
	if (p->seq == seq)
		break;
	if (p == NULL)
		return;
	audit_input("input_dropped", r, seq, NULL);
	take_back(p, "the template waits for no answer any more");
	pending_free(p);
}

/* ---- tasks ---- */

static void on_grace_over(evutil_socket_t fd, short what, void *arg)
{
	struct input *in = arg;

	(void)fd, (void)what;
	in->known = true;
	offer_held(in);
}

void input_task_told(struct server *srv, struct run *r)
{
	struct timeval tv = {.tv_usec = INPUT_TASK_GRACE_MS * 1000L};
	struct input *in = input_of(srv, r);

	if (in->known || in->grace != NULL)
		return;
	in->grace = evtimer_new(srv->base, on_grace_over, in);
	evtimer_add(in->grace, &tv);
}

void input_task_known(struct server *srv, struct run *r)
{
	struct input *in = input_of(srv, r);

	if (!in->known)
		on_grace_over(-1, 0, in);
}

void input_waits(struct run *r, struct call *c)
{
	struct session *s = c->session;
	struct pending *p, *after;
	struct input *in;

	input_task_known(s->server, r);
	in = r->input;
	for (p = LIST_FIRST(&in->pending); p != NULL; p = after) {
		after = LIST_NEXT(p, link);
		if (p->asked == NULL && question_lacks(&p->q, s) == NULL)
			ask(p, s, c);
	}
}
