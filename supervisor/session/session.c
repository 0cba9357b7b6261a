/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - one client's conversation: messages in, one after the other, to
 * methods; answers and notifications out. Transports own it by session_ops.
 * What is no message, comes too early or too often is answered here; the end of
 * a client drops its requests, and its runs go on.
 */
#include "supervisor/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/client_request.h"
#include "supervisor/session/request.h"
#include "supervisor/session/client_task.h"
#include "supervisor/threads/rpc_async.h"
#include "supervisor/methods/methods.h"
#include "supervisor/methods/subscriptions.h"
#include "supervisor/session/task_notify.h"

void sessions_init(struct sessions *all)
{
	*all = (struct sessions){0};
	LIST_INIT(&all->all);
	TAILQ_INIT(&all->to_tell);
}

void sessions_fini(struct sessions *all)
{
	fair_queue_cancel(&all->telling);
}

void session_init(struct session *s, struct context *ctx,
		  struct requestor *requestor, const struct session_ops *ops,
		  void *arg)
{
	*s = (struct session){.ctx = ctx,
			      .requestor = requestor,
			      .ops = ops,
			      .arg = arg,
			      .via = TRUST_LOCAL,
			      .revision = MCP_LATEST,
			      .log_level = MCP_LEVEL_INFO};
	LIST_INIT(&s->requests);
	LIST_INIT(&s->parts);
	TAILQ_INIT(&s->backlog);
	LIST_INIT(&s->subscriptions);
	LIST_INIT(&s->client_requests);
	LIST_INIT(&s->feeds);
	LIST_INIT(&s->client_tasks);
	LIST_INSERT_HEAD(&ctx->sessions->all, s, link);
}

static void leave_untold(struct session *s)
{
	if (s->to_tell)
		TAILQ_REMOVE(&s->ctx->sessions->to_tell, s, tell);
	s->to_tell = false;
}

static void drop_parts(struct parts *p);

void session_fini(struct session *s)
{
	struct parts *p;
	struct request *c;

	s->over = true;
	while ((p = LIST_FIRST(&s->parts)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): they leave it */
		drop_parts(p);
	while ((c = LIST_FIRST(&s->requests)) != NULL)
		request_drop(c, false);
	client_task_all_gone(s);
	client_requests_gone(s);
	task_notify_session_gone(s);
	subscriptions_gone(s);
	leave_untold(s);
	LIST_REMOVE(s, link);
	json_object_put(s->client);
}

void session_tell(struct session *s, void *stream, const char *method,
		  struct json_object *params)
{
	struct buf out = {0};

	rpc_put_notification(&out, method, params);
	s->ops->send(s->arg, stream, buf_data(&out), buf_len(&out));
	buf_fini(&out);
}

/* Other templates may bring any of these. */
static const char *const lists[] = {"notifications/tools/list_changed",
				    "notifications/resources/list_changed",
				    "notifications/prompts/list_changed"};

static void tell_lists(struct session *s)
{
	s->stale = !session_has_push_stream(s);
	for (size_t i = 0; !s->stale && i < ARRAY_LEN(lists); i++)
		session_tell(s, NULL, lists[i], NULL);
}

#define TOLD_IN_A_TURN 32

static void tell_some(void *arg)
{
	struct context *ctx = arg;
	struct sessions *all = ctx->sessions;
	struct session *s;

	for (int i = 0;
	     i < TOLD_IN_A_TURN && (s = TAILQ_FIRST(&all->to_tell)) != NULL;
	     i++) {
		leave_untold(s);
		tell_lists(s);
	}
	if (!TAILQ_EMPTY(&all->to_tell))
		fair_queue_requeue(ctx->turns, ctx->chores, &all->telling);
}

void session_lists_changed(struct context *ctx)
{
	struct sessions *all = ctx->sessions;
	struct session *s;

	LIST_FOREACH(s, &all->all, link) {
		if (!s->greeted || s->to_tell)
			continue;
		s->to_tell = true;
		TAILQ_INSERT_TAIL(&all->to_tell, s, tell);
	}
	all->telling.take = tell_some;
	all->telling.arg = ctx;
	if (all->telling.lane == NULL && !TAILQ_EMPTY(&all->to_tell))
		fair_queue_submit(ctx->turns, ctx->chores, &all->telling);
}

void session_changed(struct session *s)
{
	if (s->ops->changed != NULL && !s->over)
		s->ops->changed(s->arg);
}

void session_push_opened(struct session *s)
{
	if (s->stale)
		tell_lists(s);
	subscriptions_reached(s);
	task_notify_push_opened(s);
}

bool session_has_reader(const struct session *s, void *stream)
{
	if (stream == NULL)
		return session_has_push_stream(s);
	return s->ops->has_reader == NULL || s->ops->has_reader(s->arg, stream);
}

void session_reader_lost(struct session *s, void *stream)
{
	struct request *c;

	if (stream == NULL) {
		task_notify_reader_lost(s);
		return;
	}
	LIST_FOREACH(c, &s->requests, link)
		if (c->stream == stream && c->waiter.run != NULL)
			run_tell_waiter(c->waiter.run, WAITER_UNREAD, c);
}

bool session_has_push_stream(const struct session *s)
{
	return s->ops->has_push_stream == NULL ||
	       s->ops->has_push_stream(s->arg);
}

bool session_is_backlogged(const struct session *s)
{
	return s->ops->backlogged != NULL && s->ops->backlogged(s->arg);
}

bool session_over_read_limit(const struct session *s)
{
	return s->n_reads >= SESSION_READS_MAX ||
	       s->requestor->n_reads >= REQUESTOR_READS_MAX ||
	       session_is_backlogged(s);
}

void session_detach(struct session *s, void *stream)
{
	if (s->ops->detach != NULL)
		s->ops->detach(s->arg, stream);
}

bool session_declares(const struct session *s, const char *path)
{
	struct json_object *at = s->client;
	char name[64];

	while (at != NULL && *path != '\0') {
		size_t n = strcspn(path, "/");

		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		at = json_member(at, name);
		path += path[n] == '/' ? n + 1 : n;
	}
	return json_object_is_type(at, json_type_object);
}

void session_refuse(struct session *s, void *stream, int code,
		    const char *errmsg)
{
	struct buf out = {0};

	rpc_put_error(&out, NULL, code, errmsg, NULL);
	s->ops->answer(s->arg, stream, buf_data(&out), buf_len(&out),
		       (struct reply_hint){.refused = true});
	buf_fini(&out);
}

enum template_trust session_trust(const struct session *s)
{
	return requestor_trust(s->requestor, s->via);
}

struct request *session_find_request(const struct session *s, const char *key,
				     size_t len)
{
	struct request *c;

	HASH_FIND(hh, s->by_id, key, len, c);
	return c;
}

static void answer_broken(struct session *s, void *stream, struct rpc_msg *m,
			  struct batch *batch)
{
	struct request *c = request_new(s, stream, m, batch);

	c->hint.refused = true;
	request_error(c, c->msg.code, NULL, "%s", c->msg.text);
}

static void answer_limited(struct request *c, int64_t retry_after_ms)
{
	struct session *s = c->session;
	struct json_object *d;
	const struct config_requestor *limits = s->requestor->section;

	d = json_pack("errorCode:s retryAfterMs:i", "RATE_LIMITED",
		      retry_after_ms);
	c->hint.retry_ms = retry_after_ms;
	request_error(
	    c, RPC_RATE_LIMITED, d,
	    "more than %lld requests a second came, which is "
	    "rate_per_second in [requestor \"%s\"], and the operator's "
	    "to raise; try again in %lld ms",
	    (long long)limits->rate_per_second, s->requestor->name,
	    (long long)retry_after_ms);
}

/* Who has used up its requests may still ask whether we are there. */
static bool is_within_rate(const struct request *c, int64_t *retry_after_ms)
{
	struct requestor *q = c->session->requestor;

	return strcmp(c->msg.method, "ping") == 0
		   ? requestor_take_other(q, retry_after_ms)
		   : requestor_take(q, retry_after_ms);
}

/* May C's client ask for anything now? False: C has been answered. */
static bool is_welcome(struct request *c)
{
	struct requestor *q = c->session->requestor;
	int64_t retry_after_ms;

	if (requestor_gone(q)) {
		request_error(
		    c, RPC_INVALID_REQUEST, NULL,
		    "the operator has removed [requestor \"%s\"] from "
		    "the configuration; connect again as somebody else",
		    q->name);
		return false;
	}
	if (is_within_rate(c, &retry_after_ms))
		return true;
	answer_limited(c, retry_after_ms);
	return false;
}

static void on_request(struct session *s, void *stream, struct rpc_msg *m,
		       struct batch *batch)
{
	bool in_use = session_find_request(s, m->id_key, m->id_key_len) != NULL;
	bool too_many = s->n_requests >= SESSION_REQUESTS_MAX;
	struct request *c = request_new(s, stream, m, batch);

	if (!is_welcome(c))
		return;
	if (in_use) {
		request_error(c, RPC_INVALID_REQUEST, NULL,
			      "the id %.64s belongs to a request that is under "
			      "way; each request needs its own",
			      c->msg.id);
	} else if (too_many) {
		request_error(c, RPC_INTERNAL_ERROR, NULL,
			      "%d requests are under way on this connection; "
			      "wait for answers",
			      SESSION_REQUESTS_MAX);
	} else {
		request_begin(c);
		methods_call(c);
	}
}

/*
 * M is emptied; BATCH, when there is one, loses one that it waits for. Does
 * it get an answer?
 */
static bool on_message(struct session *s, void *stream, struct rpc_msg *m,
		       struct batch *batch)
{
	switch (m->kind) {
	case RPC_REQUEST:
		on_request(s, stream, m, batch);
		return true;
	case RPC_BROKEN:
		answer_broken(s, stream, m, batch);
		return true;
	case RPC_NOTIFICATION:
		methods_notify(s, m);
		break;
	case RPC_RESPONSE:
		client_request_response(s, m);
		break;
	case RPC_BATCH:
		break;
	}
	if (batch != NULL)
		batch_skip(batch);
	rpc_async_free(s->ctx->thread_pool, s->requestor, m);
	return false;
}

/* ---- batches: a part is a turn, and what comes after waits ---- */

struct parts {
	struct session *session;
	void *stream;
	struct batch *batch;
	struct rpc_msg m; /* owned */
	size_t next;
	struct fair_queue_turn turn;
	LIST_ENTRY(parts) link; /* in session.parts */
};

static void parts_free(struct parts *p)
{
	struct session *s = p->session;

	fair_queue_cancel(&p->turn);
	LIST_REMOVE(p, link);
	rpc_async_free(s->ctx->thread_pool, s->requestor, &p->m);
	free(p);
}

static void take_part(void *arg)
{
	struct parts *p = arg;
	struct session *s = p->session;
	struct rpc_msg *detach = &p->m.parts[p->next++];

	on_message(s, p->stream, detach, p->batch);
	if (p->next < p->m.n_parts) {
		fair_queue_requeue(s->ctx->turns, &s->requestor->turns,
				   &p->turn);
		return;
	}
	parts_free(p);
	if (s->ops->read_done != NULL)
		s->ops->read_done(s->arg);
}

/* The client is gone: nobody takes what is left. */
static void drop_parts(struct parts *p)
{
	size_t left = p->m.n_parts - p->next;

	batch_gone(p->batch);
	while (left-- > 0)
		batch_skip(p->batch);
	parts_free(p);
}

/* Does any of M's parts get an answer? */
static bool wants_answer(const struct rpc_msg *m)
{
	for (size_t i = 0; i < m->n_parts; i++)
		if (m->parts[i].kind == RPC_REQUEST ||
		    m->parts[i].kind == RPC_BROKEN)
			return true;
	return false;
}

static bool on_batch(struct session *s, void *stream, struct rpc_msg *m)
{
	struct parts *p;
	bool answered;
	char errmsg[80];

	if (m->parts == NULL) {
		snprintf(errmsg, sizeof(errmsg),
			 "a batch of %zu messages came; at most %d are taken",
			 m->n_parts, RPC_BATCH_MAX);
		session_refuse(s, stream, RPC_INVALID_REQUEST, errmsg);
		return true;
	}
	answered = wants_answer(m);
	p = xcalloc(1, sizeof(*p));
	*p = (struct parts){.session = s,
			    .stream = stream,
			    .batch = batch_new(s, stream, m->n_parts),
			    .m = *m,
			    .turn = {.take = take_part, .arg = p}};
	LIST_INSERT_HEAD(&s->parts, p, link);
	*m = (struct rpc_msg){0};
	take_part(p);
	return answered;
}

bool session_take(struct session *s, void *stream, struct rpc_msg *m)
{
	bool answered = true;

	if (m->kind != RPC_BATCH)
		return on_message(s, stream, m, NULL);
	if (s->greeted && mcp_has(s->revision, MCP_BATCHES))
		answered = on_batch(s, stream, m);
	else
		session_refuse(s, stream, RPC_INVALID_REQUEST,
			       "an array came; batches belong to revision "
			       "2025-03-26 alone: send one message at a time");
	rpc_async_free(s->ctx->thread_pool, s->requestor, m);
	return answered;
}

bool session_receive(struct session *s, void *stream, const char *text,
		     size_t len)
{
	struct rpc_msg m;

	rpc_parse(&m, text, len);
	return session_take(s, stream, &m);
}
