/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - takes the messages of clients from stream_conn.c and
 * http_exchange.c. A request which cannot be served is answered by a JSON-RPC
 * error; a notification or a response without a taker is logged.
 */
#include "supervisor/session/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/session/batch.h"
#include "supervisor/session/client_request.h"
#include "supervisor/run/threads/rpc_async.h"

static void answer_broken(struct session *s, void *stream, struct rpc_msg *m,
			  struct batch *batch)
{
	struct request *req = request_new(s, stream, m, batch);
	struct json_object *data = rpc_async_refusal(&req->msg);

	if (data != NULL)
		req->hint.retry_ms = MEMORY_RETRY_MS;
	else
		req->hint.status = 400;
	request_error(req, req->msg.code, data, "%s", req->msg.text);
}

static void answer_limited(struct request *req, int64_t retry_after_ms)
{
	struct session *s = req->session;
	const struct config_requestor *limits = s->requestor->section;
	struct json_object *d = json_pack("errorCode:s retryAfterMs:i",
					  "RATE_LIMITED", retry_after_ms);

	req->hint.retry_ms = retry_after_ms;
	request_error(
	    req, RPC_RATE_LIMITED, d,
	    "more than %lld requests a second came, which is "
	    "rate_per_second in [requestor \"%s\"], and the operator's "
	    "to raise; try again in %lld ms",
	    (long long)limits->rate_per_second, s->requestor->name,
	    (long long)retry_after_ms);
}

/* May REQ's client ask now? False: REQ was answered. */
static bool is_welcome(struct request *req)
{
	struct requestor *q = req->session->requestor;
	int64_t retry_after_ms;
	bool ping = strcmp(req->msg.method, "ping") == 0;

	if (requestor_gone(q)) {
		request_error(
		    req, RPC_INVALID_REQUEST, NULL,
		    "the operator has removed [requestor \"%s\"] from "
		    "the configuration; connect again as somebody else",
		    q->name);
		return false;
	}
	/* a requestor who has used up its requests may still ping */
	if ((ping ? requestor_take_other : requestor_take)(q, &retry_after_ms))
		return true;
	answer_limited(req, retry_after_ms);
	return false;
}

/* ---- a single message ---- */

/*
 * Find the method NAME of REV. The table may have a name twice, for different
 * revisions.
 */
static const struct method *find_method(const struct context *ctx,
					const char *name, enum mcp_revision rev)
{
	for (const struct method *m = ctx->methods->all; m->name != NULL; m++)
		if (strcmp(m->name, name) == 0 && mcp_has(rev, m->needs))
			return m;
	return NULL;
}

bool method_is_slow(const struct context *ctx, const char *name,
		    enum mcp_revision rev)
{
	const struct method *m = find_method(ctx, name, rev);

	return m != NULL && m->slow;
}

static void answer_no_method(struct request *req)
{
	const struct method *m = req->ctx->methods->all;

	while (m->name != NULL && strcmp(m->name, req->msg.method) != 0)
		m++;
	if (m->name != NULL)
		request_error(req, RPC_METHOD_NOT_FOUND, NULL,
			      "MCP %s, which this request is of, has no method "
			      "\"%s\"; other revisions have it here",
			      mcp_revision_name(req->terms->revision),
			      req->msg.method);
	else
		request_error(req, RPC_METHOD_NOT_FOUND, NULL,
			      "this server has no method \"%.100s\"",
			      req->msg.method);
}

static void serve_request(struct request *req)
{
	const struct method *m =
	    find_method(req->ctx, req->msg.method, req->terms->revision);
	bool greeted = req->session->greeted || req->terms == &req->own_terms;

	if (m == NULL)
		answer_no_method(req);
	else if (!m->early && !greeted)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "%s came before initialize; send that first, or "
			      "with each request params._meta, as MCP "
			      "2026-07-28 has it",
			      m->name);
	else
		m->serve(req);
}

/*
 * Read the terms which REQ's client sends with the request, if any. Invalid terms
 * in initialize are ignored: such a client may know older revisions.
 */
static void read_terms(struct request *req, struct mcp_envelope *e)
{
	mcp_envelope_read(e, req->msg.params);
	if (!e->claims ||
	    (e->code != 0 && strcmp(req->msg.method, "initialize") == 0)) {
		e->code = 0;
		return;
	}
	req->own_terms = (struct client_terms){
	    .revision = e->code == 0 ? e->revision : MCP_LATEST,
	    .capabilities = e->capabilities,
	    .log_level = e->log_level};
	req->terms = req->progress.terms = &req->own_terms;
}

static void on_request(struct session *s, void *stream, struct rpc_msg *m,
		       struct batch *batch)
{
	bool in_use = request_find(s, m->id_key, m->id_key_len) != NULL;
	bool too_many = s->n_requests >= SESSION_REQUESTS_MAX;
	bool too_many_of_all =
	    s->requestor->n_requests >= REQUESTOR_REQUESTS_MAX;
	struct request *req = request_new(s, stream, m, batch);
	struct mcp_envelope e;

	read_terms(req, &e); /* the terms decide the form of any refusal */
	if (!is_welcome(req))
		return;
	if (e.code != 0) {
		req->hint.status = 400;
		request_error(req, e.code, mcp_envelope_data(&e), "%s", e.text);
	} else if (in_use) {
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "the id %.64s belongs to a request that is under "
			      "way; each request needs its own",
			      req->msg.id);
	} else if (!mcp_progress_token_fits(req->msg.params)) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params._meta.progressToken has more than %d "
			      "bytes; the client has to choose a shorter one",
			      MCP_TOKEN_MAX);
	} else if (too_many) {
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "%d requests are under way on this connection; "
			      "wait for answers",
			      SESSION_REQUESTS_MAX);
	} else if (too_many_of_all) {
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "%d requests of yours are under way on all "
			      "connections together; wait for answers",
			      REQUESTOR_REQUESTS_MAX);
	} else {
		request_begin(req);
		serve_request(req);
	}
}

/*
 * Cancel the client's request. An unknown or finished request is no error;
 * initialize cannot be cancelled.
 */
static void cancelled(struct session *s, const struct rpc_msg *msg)
{
	struct json_object *wanted = json_member(msg->params, "requestId");
	const char *reason = json_member_str(msg->params, "reason");
	char key[RPC_ID_MAX + 1];
	size_t len = rpc_id_key(key, wanted);
	struct request *req = request_find(s, key, len);

	if (req == NULL)
		return;
	log_info(
	    "session", "requestor=%s method=%s cancelled=yes reason=\"%s\"",
	    s->requestor->name, req->msg.method, reason != NULL ? reason : "");
	request_drop(req, true);
}

static void on_notification(struct session *s, const struct rpc_msg *msg)
{
	if (strcmp(msg->method, "notifications/cancelled") == 0)
		cancelled(s, msg);
	else if (strcmp(msg->method, "notifications/initialized") == 0)
		s->initialized = s->greeted;
	else
		log_debug("session",
			  "requestor=%s notification=\"%.64s\" "
			  "ignored=yes",
			  s->requestor->name, msg->method);
}

/*
 * Serve M, which is emptied. In BATCH (may be NULL) M counts as done once
 * answered, or at once if M gets no answer. Returns whether M gets an answer.
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
		on_notification(s, m);
		break;
	case RPC_RESPONSE:
		if (!client_request_response(s, m) && s->ctx->cluster != NULL)
			s->ctx->cluster->forward(s, m);
		break;
	case RPC_BATCH:
		break;
	}
	if (batch != NULL)
		batch_skip(batch);
	rpc_async_free(s->ctx->thread_pool, s->requestor, m);
	return false;
}

/* ---- batches: a part in each turn; later messages wait ---- */

struct parts {
	struct session *session;
	void *stream;
	struct batch *batch;
	struct rpc_msg m; /* the batch; owned */
	size_t next;
	struct fair_queue_turn turn;
	struct session_observer observer;
};

static void parts_free(struct parts *p)
{
	struct session *s = p->session;

	fair_queue_cancel(&p->turn);
	session_unobserve(s, &p->observer);
	s->n_batches--;
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

/* Skip the parts left: the session ends. */
static void on_gone(struct session_observer *o)
{
	struct parts *p = CONTAINER(o, struct parts, observer);
	size_t left = p->m.n_parts - p->next;

	batch_gone(p->batch);
	while (left-- > 0)
		batch_skip(p->batch);
	parts_free(p);
}

static const struct session_observer_ops parts_ops = {.on_gone = on_gone};

static bool on_batch(struct session *s, void *stream, struct rpc_msg *m)
{
	struct parts *p;
	bool answered = false;
	char errmsg[80];

	if (m->parts == NULL) {
		snprintf(errmsg, sizeof(errmsg),
			 "a batch of %zu messages came; at most %d are taken",
			 m->n_parts, RPC_BATCH_MAX);
		session_refuse(s, stream, RPC_INVALID_REQUEST, errmsg);
		return true;
	}
	for (size_t i = 0; i < m->n_parts; i++)
		answered |= m->parts[i].kind == RPC_REQUEST ||
			    m->parts[i].kind == RPC_BROKEN;
	p = xcalloc(1, sizeof(*p));
	*p = (struct parts){.session = s,
			    .stream = stream,
			    .batch = batch_new(s, stream, m->n_parts),
			    .m = *m,
			    .turn = {.take = take_part, .arg = p}};
	session_observe(s, &p->observer, &parts_ops);
	s->n_batches++;
	*m = (struct rpc_msg){0};
	take_part(p);
	return answered;
}

bool session_take(struct session *s, void *stream, struct rpc_msg *m)
{
	struct mcp_envelope e = {0};
	bool answered = true;

	if (m->kind != RPC_BATCH)
		return on_message(s, stream, m, NULL);
	/* has any part its own terms? */
	for (size_t i = 0; m->parts != NULL && i < m->n_parts && !e.claims; i++)
		mcp_envelope_read(&e, m->parts[i].params);
	if (e.claims)
		session_refuse(
		    s, stream, RPC_INVALID_REQUEST,
		    "an array came with a message of a revision that "
		    "has no batches: send one message at a time");
	else if (s->greeted && mcp_has(s->terms.revision, MCP_BATCHES))
		answered = on_batch(s, stream, m);
	else
		session_refuse(s, stream, RPC_INVALID_REQUEST,
			       "an array came; batches belong to revision "
			       "2025-03-26 alone: send one message at a time");
	rpc_async_free(s->ctx->thread_pool, s->requestor, m);
	return answered;
}
