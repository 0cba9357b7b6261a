/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - a request of a client from arrival to answer: the wait, the
 * batch, the size, the watch of a run. dispatch.c makes requests, all methods
 * answer by request.c. An answer too long becomes an error; a request whose
 * client is gone is dropped.
 */
#include "supervisor/session/request.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/run/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/batch.h"
#include "supervisor/session/progress.h"
#include "supervisor/run/exec/runs.h"

#define REQUEST_COST 1024 /* bytes of a request, without its message */
/* answers of a requestor made in a turn of the loop, of ends that many await */
#define ANSWERS_AT_ONCE 32

/* ---- made, and freed ---- */

static const struct request_ops no_ops;

static void on_gone(struct session_observer *o)
{
	request_drop(CONTAINER(o, struct request, observer), false);
}

static void on_reader_lost(struct session_observer *o, void *stream)
{
	struct request *c = CONTAINER(o, struct request, observer);

	if (c->stream == stream && c->waiter.run != NULL)
		run_tell_waiter(c->waiter.run, WAITER_UNREAD, c);
}

static const struct session_observer_ops observer_ops = {
    .on_gone = on_gone, .on_reader_lost = on_reader_lost};

struct request *request_find(const struct session *s, const char *key,
			     size_t len)
{
	struct request *c;

	HASH_FIND(hh, s->requests, key, len, c);
	return c;
}

struct request *request_new(struct session *s, void *stream,
			    struct rpc_msg *msg, struct batch *batch)
{
	struct request *c = xcalloc(1, sizeof(*c));

	c->ops = &no_ops;
	c->session = s;
	c->ctx = s->ctx;
	c->requestor = s->requestor;
	c->stream = stream;
	c->waiter.request = c;
	c->terms = &s->terms;
	c->msg = *msg;
	*msg = (struct rpc_msg){0};
	c->batch = batch;
	if (batch != NULL)
		batch_want(batch);
	c->progress =
	    (struct progress){.session = s,
			      .terms = c->terms,
			      .stream = stream,
			      .token = mcp_progress_token(c->msg.params)};
	session_observe(s, &c->observer, &observer_ops);
	s->n_requests++;
	s->requestor->n_requests++;
	memory_add(&c->requestor->memory, REQUEST_COST);
	return c;
}

void request_set_state(struct request *c, const struct request_ops *ops,
		       void *state)
{
	c->ops = ops;
	c->state = state;
}

void *request_take_state(struct request *c)
{
	void *state = c->state;

	request_set_state(c, &no_ops, NULL);
	return state;
}

void request_begin(struct request *c)
{
	c->begun = true;
	HASH_ADD_KEYPTR(hh, c->session->requests, c->msg.id_key,
			c->msg.id_key_len, c);
}

static void leave_backlog(struct request *c)
{
	if (!c->backlogged)
		return;
	c->backlogged = false;
	TAILQ_REMOVE(&c->session->backlog, c, backlog);
	/* the next request waited for C */
	if (!TAILQ_EMPTY(&c->session->backlog)) {
		session_wait_to_read(c->session);
		sessions_read_on(c->session->ctx);
	}
}

static void end_read(struct request *c)
{
	struct session *s = c->session;

	if (!c->reads)
		return;
	c->reads = false;
	s->n_reads--;
	s->requestor->n_reads--;
	sessions_read_on(s->ctx);
	if (s->ops->read_done != NULL)
		s->ops->read_done(s->arg);
}

static void leave_session(struct request *c)
{
	if (c->session == NULL)
		return;
	session_unobserve(c->session, &c->observer);
	if (c->begun)
		HASH_DELETE(hh, c->session->requests, c);
	c->session->n_requests--;
	c->requestor->n_requests--;
	leave_backlog(c);
	end_read(c);
	c->session = NULL;
	if (c->batch != NULL) /* the batch outlives C, not the session */
		batch_skip(c->batch);
	c->batch = NULL;
}

static void request_free(struct request *c)
{
	assert(c->refs == 0);
	request_unwatch(c);
	leave_session(c);
	if (c->timer != NULL)
		event_free(c->timer);
	progress_fini(&c->progress);
	if (c->ops->free != NULL)
		c->ops->free(c->state);
	rpc_async_free(c->ctx->thread_pool, c->requestor, &c->msg);
	memory_give(&c->requestor->memory, REQUEST_COST);
	if (c->ctx->sessions != NULL)
		/* waiting requests may have room now */
		sessions_read_on(c->ctx);
	free(c);
}

void request_ref(struct request *c)
{
	c->refs++;
	c->ctx->lookups++;
}

void request_mark_large(struct request *c)
{
	if (c->reads)
		return;
	c->reads = true;
	c->session->n_reads++;
	c->session->requestor->n_reads++;
}

void request_ref_large(struct request *c)
{
	request_mark_large(c);
	request_ref(c);
}

bool request_unref(struct request *c)
{
	assert(c->refs > 0);
	c->refs--;
	c->ctx->lookups--;
	end_read(c);
	if (!c->dropped)
		return true;
	if (c->refs == 0)
		request_free(c);
	return false;
}

void request_drop(struct request *c, bool cancel_run)
{
	struct run *r = c->run;
	struct runs *runs = c->session->ctx->runs;

	c->dropped = true;
	c->cancels = cancel_run;
	if (c->ops->dropped != NULL)
		c->ops->dropped(c);
	if (c->batch != NULL && !cancel_run)
		batch_gone(c->batch); /* the client itself has gone */
	request_unwatch(c);	      /* before the stream is gone */
	if (c->batch == NULL && cancel_run)
		c->session->ops->answer(c->session->arg, c->stream, NULL, 0,
					(struct reply_hint){0});
	leave_session(c);
	/* a reference may keep C for long */
	if (c->timer != NULL)
		evtimer_del(c->timer);
	if (c->refs == 0)
		request_free(c);
	if (r != NULL && cancel_run && run_is_unwanted(r))
		runs_cancel(runs, r);
}

/* ---- the answer ---- */

#define ERROR_BYTES 2048 /* of an error message, with an id of RPC_ID_MAX */

size_t request_max_bytes(const struct request *c)
{
	size_t most = (size_t)c->ctx->config->max_answer_bytes, used = 0;

	if (c->batch != NULL)
		used = batch_bytes(c->batch, ERROR_BYTES);
	return used < most ? most - used : 0;
}

/*
 * Replace ANSWER by an error if too long. A client which reads lines has a
 * bound for a line, and drops its session at a longer line.
 */
static void shorten(const struct request *c, struct buf *answer)
{
	size_t len = buf_len(answer);
	char *errmsg;

	if (len <= ERROR_BYTES || len <= request_max_bytes(c))
		return;
	errmsg =
	    xasprintf("the answer has %zu bytes, and no message of this server "
		      "has more than %lld (its max_answer_bytes)%s",
		      len, (long long)c->ctx->config->max_answer_bytes,
		      c->batch != NULL ? "; ask for it in no batch" : "");
	buf_fini(answer);
	rpc_put_error(answer, c->msg.id, RPC_INTERNAL_ERROR, errmsg, NULL);
	free(errmsg);
}

/* Send the complete ANSWER, alone or with its batch. */
void request_send_message(struct request *c, struct buf *answer)
{
	const struct session_ops *ops = c->session->ops;

	shorten(c, answer);
	if (c->batch != NULL)
		batch_add(c->batch, answer);
	else if (ops->answer_taken != NULL &&
		 rpc_async_is_large(buf_len(answer)))
		ops->answer_taken(c->session->arg, c->stream, answer, c->hint);
	else
		ops->answer(c->session->arg, c->stream, buf_data(answer),
			    buf_len(answer), c->hint);
	buf_fini(answer);
	request_free(c);
}

void request_result(struct request *c, struct json_object *result)
{
	struct buf answer = {0};

	mcp_finish_result(result, c->terms->revision);
	rpc_put_result(&answer, c->msg.id, result);
	json_object_put(result);
	request_send_message(c, &answer);
}

void request_error(struct request *c, int code, struct json_object *data,
		   const char *fmt, ...)
{
	enum mcp_revision rev = c->terms->revision;
	struct buf answer = {0};
	char *text;
	va_list ap;

	code = mcp_error_code(code, rev);
	if (c->hint.status == 0)
		c->hint.status = mcp_error_status(code, rev);

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	utf8_mend(text);
	rpc_put_error(&answer, c->msg.id, code, text, data);
	json_object_put(data);
	free(text);
	request_send_message(c, &answer);
}

bool request_is_operator(const struct request *c)
{
	const struct context *ctx = c->ctx;

	return c->session->via == TRUST_LOCAL &&
	       (c->requestor == ctx->local ||
		c->requestor == requestors_of_uid(ctx->requestors, 0));
}

void request_unreadable(struct request *c, int rc)
{
	request_error(c, RPC_INTERNAL_ERROR,
		      json_pack("errorCode:s", "STORE_UNAVAILABLE"),
		      "the store cannot be read now: %s", store_says(rc));
}

void request_notify(struct request *c, const char *method,
		    struct json_object *params)
{
	mcp_add_subscription(params, c->msg.id);
	session_tell(c->session, c->stream, method, params);
	json_object_put(params);
}

void request_audit_refused(const struct request *c, const char *code)
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

void request_tool_error(struct request *c, struct tool_error *r)
{
	struct json_object *o =
	    tool_error_json(r->code, r->message, r->details);
	struct json_object *result;
	size_t len;
	const char *text = json_text(o, &len);

	request_audit_refused(c, r->code);
	result = mcp_tool_result(text, len, NULL, 0, true);
	json_object_put(o);
	tool_error_fini(r);
	request_result(c, result);
}

/* ---- a watched run ---- */

void request_unrecorded(struct request *c, const struct run *r,
			const char *unrecorded)
{
	struct tool_error tool_error = {0};

	tool_error_set(&tool_error, "STORE_UNAVAILABLE",
		       json_pack("runId:s status:s retryAfterMs:i", r->id,
				 run_status(r), ADMISSION_STORE_MS),
		       "the run ended, but its outcome cannot be recorded: %s",
		       unrecorded);
	request_tool_error(c, &tool_error);
}

static void on_recorded(struct request *c, struct run *r,
			const char *unrecorded)
{
	progress_stop(&c->progress, true);
	request_unwatch(c);
	if (unrecorded == NULL)
		c->ops->run_ended(c, r);
	else
		request_unrecorded(c, r, unrecorded);
}

/* Tell C's client of the run meanwhile, if C is not one of too many. */
static void pass_on(struct request *c, struct run *r,
		    const struct run_notice *n)
{
	if (!c->told)
		return;
	if (n->kind == NOTICE_PROGRESS)
		progress_news(&c->progress, r);
	else if (c->ops->logs)
		progress_log(&c->progress, r, n);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct request *c = CONTAINER(w, struct request, watch);

	if (n->kind == NOTICE_LOG || n->kind == NOTICE_PROGRESS)
		pass_on(c, r, n);
	else if (n->kind == NOTICE_RECORDED)
		on_recorded(c, r, n->unrecorded);
	else if (c->ops->run_changed != NULL)
		c->ops->run_changed(c, r, n);
}

void request_watch(struct request *c, struct run *r)
{
	c->run = r;
	c->told = r->n_told < REQUESTS_TOLD_MAX;
	r->n_told += c->told;
	c->watch.on_notice = on_notice;
	run_watch_add(r, &c->watch);
}

void request_unwatch(struct request *c)
{
	progress_stop(&c->progress, false);
	if (c->run != NULL) {
		c->run->n_told -= c->told;
		run_watch_del(&c->watch);
	}
	c->run = NULL;
	run_waiter_del(&c->waiter);
}

/* Set FN as the function of C's timer. */
static void set_callback(struct request *c, event_callback_fn fn)
{
	if (c->timer != NULL && event_get_callback(c->timer) == fn)
		return;
	if (c->timer != NULL)
		event_free(c->timer);
	c->timer = evtimer_new(c->session->ctx->base, fn, c);
}

void request_set_timer(struct request *c, int64_t ms, event_callback_fn fn)
{
	set_callback(c, fn);
	evtimer_add(c->timer, CLOCK_TIMEVAL(ms));
}

void request_stop_timer(struct request *c)
{
	if (c->timer != NULL)
		evtimer_del(c->timer);
}

/* ---- an answer which waits until its client reads ---- */

/* Answers of the backlog need more room: earlier answers may be unsent. */
#define BACKLOG_READS_MAX (SESSION_READS_MAX / 2)

static bool is_full(const struct session *s, size_t reads_max)
{
	/* a first answer is always made, and frees its request */
	return session_over_read_limit(s) || s->n_reads >= reads_max ||
	       (s->n_reads > 0 && memory_is_over(&s->requestor->memory));
}

/* Let the first request of S's backlog try again. */
static void wake_backlog(struct session *s)
{
	struct request *c = TAILQ_FIRST(&s->backlog);

	if (c != NULL && is_full(s, BACKLOG_READS_MAX))
		session_wait_to_read(s);
	else if (c != NULL)
		evtimer_add(c->timer, CLOCK_TIMEVAL(0));
}

/*
 * Were ANSWERS_AT_ONCE answers of Q made since the loop looked at its
 * descriptors? If not, one more is counted.
 */
static bool had_turn(struct requestor *q, struct event_base *base)
{
	struct timeval now;

	event_base_gettimeofday_cached(base, &now);
	if (timercmp(&now, &q->looked, !=)) {
		q->looked = now;
		q->n_answers = 0;
	}
	if (q->n_answers >= ANSWERS_AT_ONCE)
		return true;
	q->n_answers++;
	return false;
}

/* Is the row read that C waits for? Then C is answered from the same row. */
static bool is_being_read(const struct request *c)
{
	const struct request *other;

	if (c->deferred_id[0] == '\0')
		return false;
	LIST_FOREACH(other, &c->ctx->sessions->reading, reading)
		if (other->requestor == c->requestor &&
		    strcmp(other->deferred_id, c->deferred_id) == 0)
			return true;
	return false;
}

/* May C be answered now? CROWD: not, since others were, in this turn. */
static bool may_answer(struct request *c, bool *crowd)
{
	const struct session *s = c->session;

	if (is_being_read(c))
		return false;
	if (c->backlogged
		? is_full(s, BACKLOG_READS_MAX)
		: is_full(s, SESSION_READS_MAX) || !TAILQ_EMPTY(&s->backlog))
		return false;
	*crowd = had_turn(c->requestor, c->ctx->base);
	return !*crowd;
}

bool request_backlogged(struct request *c, event_callback_fn again)
{
	struct session *s = c->session;
	bool crowd = false, now = may_answer(c, &crowd);

	if (!c->backlogged) {
		if (now)
			return false;
		c->backlogged = true;
		TAILQ_INSERT_TAIL(&s->backlog, c, backlog);
		set_callback(c, again);
	} else if (now) {
		leave_backlog(c);
		return false;
	}
	s->wake = wake_backlog;
	session_wait_to_read(s);
	if (crowd)
		sessions_read_on(c->ctx);
	return true;
}

static void look_again(evutil_socket_t fd, short what, void *arg);

/* Return a request of Q that waits to be answered about the run ID, or NULL. */
static struct request *next_alike(const struct context *ctx,
				  const struct requestor *q, const char *id)
{
	struct session *s;

	TAILQ_FOREACH(s, &ctx->sessions->waiting, wait) {
		struct request *c = TAILQ_FIRST(&s->backlog);

		if (s->requestor == q && c != NULL &&
		    strcmp(c->deferred_id, id) == 0)
			return c;
	}
	return NULL;
}

/* Answer from ROW as many others of Q as a turn takes; others read the row again. */
static void answer_alike(const struct context *ctx, const struct requestor *q,
			 const struct store_run *row)
{
	struct request *c;

	while ((c = next_alike(ctx, q, row->id)) != NULL &&
	       !request_backlogged(c, look_again))
		c->ops->run_stored(c, row);
}

static void on_deferred(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	const struct context *ctx = c->ctx;
	const struct requestor *q = c->requestor;
	struct tool_error tool_error = {0};

	LIST_REMOVE(c, reading);
	if (!request_unref(c))
		return;
	if (res->rc == 0) {
		c->ops->run_stored(c, &res->runs[0]);
		answer_alike(ctx, q, &res->runs[0]);
		return;
	}
	tool_error_set(&tool_error, "STORE_UNAVAILABLE",
		       admission_store_details(),
		       "the run ended, but its outcome cannot be read now: %s",
		       store_says(res->rc));
	request_tool_error(c, &tool_error);
}

static void look_again(evutil_socket_t fd, short what, void *arg)
{
	struct request *c = arg;

	(void)fd, (void)what;
	if (request_backlogged(c, look_again))
		return;
	request_ref_large(c);
	LIST_INSERT_HEAD(&c->ctx->sessions->reading, c, reading);
	store_get_run(c->session->ctx->store, c->session->requestor->name,
		      c->deferred_id, on_deferred, c);
}

bool request_defer(struct request *c, const struct run *r)
{
	if (!request_backlogged(c, look_again))
		return false;
	memcpy(c->deferred_id, r->id, sizeof(c->deferred_id));
	return true;
}

void request_present_stored(struct request *c, const char *run_id)
{
	snprintf(c->deferred_id, sizeof(c->deferred_id), "%s", run_id);
	look_again(-1, 0, c);
}
