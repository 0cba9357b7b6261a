/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/session/request.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "proto/mcp/mcp.h"
#include "supervisor/run/audit.h"
#include "supervisor/session/response.h"
#include "supervisor/input/input.h"
#include "supervisor/threads/rpc_async.h"
#include "supervisor/session/logging.h"
#include "supervisor/exec/runs.h"

/* The answers of a batch, which leave when the last of them is there. */
struct batch {
	struct session *session;
	void *route;
	bool wanted; /* some of it gets an answer */
	size_t waiting;
	struct buf answers; /* "[a,b" so far */
};

struct batch *batch_new(struct session *s, void *route, size_t n)
{
	struct batch *b = xcalloc(1, sizeof(*b));

	b->session = s;
	b->route = route;
	b->waiting = n;
	return b;
}

static void batch_less(struct batch *b)
{
	if (--b->waiting > 0)
		return;
	if (b->session != NULL && b->wanted) {
		struct session *s = b->session;
		bool any = buf_len(&b->answers) > 0;

		buf_add_str(&b->answers, "]");
		s->ops->answer(s->arg, b->route,
			       any ? buf_data(&b->answers) : NULL,
			       any ? buf_len(&b->answers) : 0);
	}
	buf_fini(&b->answers);
	free(b);
}

static void batch_add(struct batch *b, const struct buf *answer)
{
	buf_add_str(&b->answers, buf_len(&b->answers) > 0 ? "," : "[");
	buf_add(&b->answers, buf_data(answer), buf_len(answer));
}

void batch_gone(struct batch *b)
{
	b->session = NULL;
}

void batch_skip(struct batch *b)
{
	batch_less(b);
}

/* ---- birth, death ---- */

struct call *call_new(struct session *s, void *route, struct rpc_msg *msg,
		      struct batch *batch)
{
	struct call *c = xcalloc(1, sizeof(*c));

	c->session = s;
	c->server = s->server;
	c->requestor = s->requestor;
	c->route = route;
	c->msg = *msg;
	*msg = (struct rpc_msg){0};
	c->batch = batch;
	if (batch != NULL)
		batch->wanted = true;
	c->progress = (struct progress){
	    .session = s,
	    .route = route,
	    .token = mcp_progress_token(c->msg.params)};
	LIST_INSERT_HEAD(&s->calls, c, link);
	s->n_calls++;
	return c;
}

void call_begin(struct call *c)
{
	c->begun = true;
	HASH_ADD_KEYPTR(hh, c->session->by_id, c->msg.id_key,
			c->msg.id_key_len, c);
}

static void leave_crowd(struct call *c)
{
	if (!c->crowded)
		return;
	c->crowded = false;
	TAILQ_REMOVE(&c->session->crowd, c, crowd);
}

/* One of S's reads is over: another may begin. */
static void wake_crowd(struct session *s)
{
	static const struct timeval now = {0};
	struct call *c = TAILQ_FIRST(&s->crowd);

	if (c != NULL && !session_behind(s))
		evtimer_add(c->timer, &now);
}

static void end_read(struct call *c)
{
	struct session *s = c->session;

	if (!c->reads)
		return;
	c->reads = false;
	s->n_reads--;
	s->requestor->n_reads--;
	wake_crowd(s);
	if (s->eased != NULL)
		s->eased(s->arg);
}

static void leave_session(struct call *c)
{
	if (c->session == NULL)
		return;
	LIST_REMOVE(c, link);
	if (c->begun)
		HASH_DELETE(hh, c->session->by_id, c);
	c->session->n_calls--;
	leave_crowd(c);
	end_read(c);
	c->session = NULL;
	if (c->batch != NULL) /* which may outlive us, but not the session */
		batch_less(c->batch);
	c->batch = NULL;
}

static void call_free(struct call *c)
{
	assert(c->held == 0);
	call_unwatch(c);
	leave_session(c);
	if (c->timer != NULL)
		event_free(c->timer);
	progress_fini(&c->progress);
	if (c->state_free != NULL)
		c->state_free(c->state);
	intake_discard(c->server->offload, c->requestor, &c->msg);
	free(c);
}

void call_hold(struct call *c)
{
	c->held++;
}

void call_reads(struct call *c)
{
	if (c->reads)
		return;
	c->reads = true;
	c->session->n_reads++;
	c->session->requestor->n_reads++;
}

void call_hold_read(struct call *c)
{
	call_reads(c);
	call_hold(c);
}

bool call_release(struct call *c)
{
	assert(c->held > 0);
	c->held--;
	end_read(c);
	if (!c->dropped)
		return true;
	if (c->held == 0)
		call_free(c);
	return false;
}

void call_drop(struct call *c, bool cancel_run)
{
	struct run *r = c->run;
	struct runs *runs = c->session->server->runs;

	c->dropped = true;
	if (c->batch != NULL && !cancel_run)
		c->batch->session = NULL; /* the client itself is gone */
	call_unwatch(c); /* its route is still there for what ends with it */
	if (c->leave != NULL)
		c->leave(c);
	if (c->batch == NULL && cancel_run)
		c->session->ops->answer(c->session->arg, c->route, NULL, 0);
	leave_session(c);
	if (c->held == 0)
		call_free(c);
	if (r != NULL && cancel_run)
		runs_cancel(runs, r);
}

/* ---- the answer ---- */

#define ERROR_BYTES 2048 /* of an error's message, with an id of RPC_ID_MAX */

size_t call_room(const struct call *c)
{
	size_t most = (size_t)c->server->config->max_answer_bytes, used = 0;

	if (c->batch != NULL)
		used = buf_len(&c->batch->answers) +
		       c->batch->waiting * ERROR_BYTES;
	return used < most ? most - used : 0;
}

/* Who reads lines has a bound for them, and drops its session at a longer one. */
static void shorten(const struct call *c, struct buf *answer)
{
	size_t len = buf_len(answer);
	char *why;

	if (len <= ERROR_BYTES || len <= call_room(c))
		return;
	why = xasprintf("the answer has %zu bytes, and no message of this server "
			"has more than %lld (its max_answer_bytes)%s",
			len, (long long)c->server->config->max_answer_bytes,
			c->batch != NULL ? "; ask for it in no batch" : "");
	buf_fini(answer);
	rpc_put_error(answer, c->msg.id, RPC_INTERNAL_ERROR, why, NULL);
	free(why);
}

/* ANSWER is complete: it leaves, alone or with its batch. */
void call_send(struct call *c, struct buf *answer)
{
	const struct session_ops *ops = c->session->ops;

	shorten(c, answer);
	if (c->batch != NULL)
		batch_add(c->batch, answer);
	else if (ops->answer_taken != NULL && intake_is_large(buf_len(answer)))
		ops->answer_taken(c->session->arg, c->route, answer);
	else
		ops->answer(c->session->arg, c->route, buf_data(answer),
			    buf_len(answer));
	buf_fini(answer);
	call_free(c);
}

void call_result(struct call *c, struct json_object *result)
{
	struct buf answer = {0};

	rpc_put_result(&answer, c->msg.id, result);
	json_object_put(result);
	call_send(c, &answer);
}

void call_error(struct call *c, int code, struct json_object *data,
		const char *fmt, ...)
{
	struct buf answer = {0};
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	utf8_mend(text);
	rpc_put_error(&answer, c->msg.id, code, text, data);
	json_object_put(data);
	free(text);
	call_send(c, &answer);
}

#define BEGINNING 65536 /* bytes of a text that is too long with its twin */

static struct json_object *make_tool_result(struct making *m)
{
	bool structured = mcp_has(m->revision, MCP_STRUCTURED);
	size_t most = structured && m->level > 0 && m->len > BEGINNING
			  ? BEGINNING
			  : m->len;
	size_t len = utf8_cut(m->text, m->len, most);
	struct json_object *result =
	    mcp_tool_result(m->text, len, structured ? m->text : NULL, m->len,
			    m->is_error);

	if (len < m->len)
		answer_say(json_member(result, "content"),
			   "The text above is the beginning alone; "
			   "structuredContent has all of it.");
	if (m->note != NULL)
		answer_say(json_member(result, "content"), m->note);
	return result;
}

void call_tool_text(struct call *c, const char *text, size_t len, bool is_error)
{
	call_make(c, &(struct making){.make = make_tool_result,
				      .gives_way = true,
				      .revision = c->session->revision,
				      .text = text,
				      .len = len,
				      .is_error = is_error});
}

void call_tool_text_taken(struct call *c, char *text, size_t len, bool is_error)
{
	call_make(c, &(struct making){.make = make_tool_result,
				      .revision = c->session->revision,
				      .gives_way = true,
				      .text = text,
				      .taken = true,
				      .len = len,
				      .is_error = is_error});
}

void call_tool_result(struct call *c, struct json_object *obj, bool is_error)
{
	size_t len;
	const char *text = json_text(obj, &len);

	call_tool_text(c, text, len, is_error);
	json_object_put(obj);
}

void call_tool_noted(struct call *c, struct json_object *obj, const char *note)
{
	size_t len;
	const char *text = json_text(obj, &len);

	call_make(c, &(struct making){.make = make_tool_result,
				      .revision = c->session->revision,
				      .text = text,
				      .len = len,
				      .note = note});
	json_object_put(obj);
}

void call_audit_refused(const struct call *c, const char *code)
{
	static const char *const ids[] = {"templateId", "runId", "artifactId"};
	struct json_object *args = json_member(c->msg.params, "arguments");
	const char *id = NULL;

	if (c->session == NULL)
		return;
	for (size_t i = 0; id == NULL && i < ARRAY_LEN(ids); i++)
		id = json_member_str(args, ids[i]);
	audit_refused(c->session->requestor,
		      json_member_str(c->msg.params, "name"), id, code);
}

void call_refuse(struct call *c, struct refusal *r)
{
	struct json_object *o = refusal_json(r->code, r->message, r->details);
	struct json_object *result;
	size_t len;
	const char *text = json_text(o, &len);

	call_audit_refused(c, r->code);
	result = mcp_tool_result(text, len, NULL, 0, true);
	json_object_put(o);
	refusal_fini(r);
	call_result(c, result);
}

/* ---- a run that it waits for ---- */

static void on_news(struct run_watch *w, struct run *r, enum run_news news)
{
	struct call *c = CONTAINER(w, struct call, watch);

	if (news == NEWS_LOG && c->held == 0) /* else it gets a handle */
		logging_tell(c->session, c->route, r, NULL);
	if (news == NEWS_PROGRESS)
		progress_news(&c->progress, r);
	if (news != NEWS_ENDED || c->held > 0)
		return; /* who holds it will answer */
	progress_stop(&c->progress, true);
	call_unwatch(c);
	if (r->unrecorded != NULL) {
		struct refusal refusal = {0};
		struct json_object *d = json_object_new_object();

		json_object_object_add(d, "runId", json_object_new_string(r->id));
		json_object_object_add(d, "status",
				       json_object_new_string(run_status(r)));
		refuse(&refusal, "STORE_UNAVAILABLE", d,
		       "the run ended, but its outcome cannot be recorded: %s",
		       r->unrecorded);
		call_refuse(c, &refusal);
		return;
	}
	c->present(c, r);
}

void call_watch(struct call *c, struct run *r)
{
	c->run = r;
	c->watch.on_news = on_news;
	run_watch_add(r, &c->watch);
}

void call_unwatch(struct call *c)
{
	struct run *r = c->run;

	progress_stop(&c->progress, false);
	c->run = NULL;
	if (r == NULL)
		return;
	run_watch_del(&c->watch);
	input_left(r, c);
}

struct call *call_waiting(const struct run *r, const struct call *c)
{
	const struct run_watch *w =
	    c == NULL ? TAILQ_FIRST(&r->watches) : TAILQ_NEXT(&c->watch, link);

	for (; w != NULL; w = TAILQ_NEXT(w, link)) {
		struct call *next = CONTAINER(w, struct call, watch);

		if (w->on_news == on_news && next->held == 0)
			return next;
	}
	return NULL;
}

void call_after(struct call *c, int64_t ms, event_callback_fn fn)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	if (c->timer != NULL && event_get_callback(c->timer) != fn) {
		event_free(c->timer);
		c->timer = NULL;
	}
	if (c->timer == NULL)
		c->timer = evtimer_new(c->session->server->base, fn, c);
	evtimer_add(c->timer, &tv);
}

/* ---- an answer that waits until its client reads ---- */

/* What waited is made with some room left: its bytes are yet to be sent. */
#define CROWD_READS_MAX (SESSION_READS_MAX / 2)

bool call_crowded(struct call *c, event_callback_fn again)
{
	struct session *s = c->session;
	size_t most = c->crowded ? CROWD_READS_MAX : SESSION_READS_MAX;
	bool full = session_crowded(s) || s->n_reads >= most;

	if (!c->crowded) {
		if (!full && TAILQ_EMPTY(&s->crowd))
			return false;
		c->crowded = true;
		TAILQ_INSERT_TAIL(&s->crowd, c, crowd);
	} else if (!full) {
		leave_crowd(c);
		return false;
	}
	call_after(c, CALL_CROWDED_MS, again);
	return true;
}

static void on_late(void *arg, const struct store_result *res)
{
	struct call *c = arg;
	struct refusal refusal = {0};

	if (!call_release(c))
		return;
	if (res->rc == 0) {
		c->late(c, &res->runs[0]);
		return;
	}
	refuse(&refusal, "STORE_UNAVAILABLE", NULL,
	       "the run ended, but its outcome cannot be read now: %s",
	       store_says(res->rc));
	call_refuse(c, &refusal);
}

static void look_again(evutil_socket_t fd, short what, void *arg)
{
	struct call *c = arg;

	(void)fd, (void)what;
	if (call_crowded(c, look_again))
		return;
	call_hold_read(c);
	store_get_run(c->session->server->store, c->session->requestor->name,
		      c->late_id, on_late, c);
}

bool call_late(struct call *c, const struct run *r,
	       void (*present)(struct call *c, const struct store_run *row))
{
	if (!call_crowded(c, look_again))
		return false;
	c->late = present;
	memcpy(c->late_id, r->id, sizeof(c->late_id));
	return true;
}
