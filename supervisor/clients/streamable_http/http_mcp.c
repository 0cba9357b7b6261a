/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_mcp.c - POST, GET and DELETE of the endpoint: checks head, rate and
 * session, then passes the message on; large messages are read on a thread.
 * http_routes.c calls it. Refusals have the status of MCP's specification. A
 * session not in memory is looked up in the store.
 */
#include "supervisor/clients/streamable_http/http_mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "proto/mcp/rpc.h"
#include "supervisor/session/request.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/clients/stateless_http/http_call.h"
#include "supervisor/clients/stateless_http/http_era.h"
#include "supervisor/clients/streamable_http/http_session_store.h"
#include "supervisor/clients/streamable_http/http_session.h"
#include "supervisor/clients/streamable_http/http_store_wait.h"
#include "supervisor/clients/streamable_http/http_stream.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/dispatch.h"

#define JSON "application/json"
#define EVENTS "text/event-stream"

/* ---- the head ---- */

static void refuse_revision(struct http_conn *c, const char *revision)
{
	char all[HTTP_ERA_NAMES_SIZE];

	http_era_names(all, MCP_LATEST_SESSION);
	http_conn_refuse(c, 400,
			 "MCP-Protocol-Version is \"%.40s\"; in a session "
			 "this server speaks %s",
			 revision, all);
}

static bool check_post(struct http_conn *c, const struct http_request *r)
{
	const char *accept = r->field[HTTP_ACCEPT];

	if (!http_accepts(accept, JSON) || !http_accepts(accept, EVENTS))
		http_conn_refuse(c, 406,
				 "an answer is " JSON " or " EVENTS
				 ": Accept has to name both");
	else if (!http_is_type(r->field[HTTP_CONTENT_TYPE], JSON))
		http_conn_refuse(c, 415,
				 "a message is " JSON
				 ": Content-Type has to say so");
	else
		return true;
	return false;
}

/* Check the head. The revision of a POST is checked later, with its message. */
bool http_mcp_head(struct http_conn *c, const struct http_request *r)
{
	const char *revision = r->field[HTTP_REVISION];

	if (r->method == HTTP_IS_POST)
		return check_post(c, r);
	if (revision != NULL && mcp_revision_of(revision) < 0) {
		refuse_revision(c, revision);
		return false;
	}
	if (r->method == HTTP_IS_GET &&
	    !http_accepts(r->field[HTTP_ACCEPT], EVENTS)) {
		http_conn_refuse(c, 406,
				 "a GET opens a stream of events: "
				 "Accept has to name " EVENTS);
		return false;
	}
	return true;
}

/* ---- the rate ---- */

/*
 * Make the text for a requestor Q over the rate of messages other than
 * requests, who may go on in WAIT_MS. The caller frees the text.
 */
static char *too_often(const struct requestor *q, int64_t wait_ms)
{
	return xasprintf("more messages came than ten for each request, of "
			 "which %lld a second may: rate_per_second in "
			 "[requestor \"%s\"], and the operator's to "
			 "raise; try again in %lld ms",
			 (long long)q->section->rate_per_second, q->name,
			 (long long)wait_ms);
}

/*
 * Count a message of Q which is not a request. Such a message has no answer to
 * carry an error, so over the rate the POST is refused.
 */
static bool is_within_rate(struct requestor *q, struct http_conn *c)
{
	int64_t wait_ms;
	char *errmsg;

	if (requestor_take_other(q, &wait_ms))
		return true;
	errmsg = too_often(q, wait_ms);
	http_conn_retry_after(c, wait_ms);
	http_conn_refuse(c, 429, "%s", errmsg);
	free(errmsg);
	return false;
}

/* ---- messages without a session ---- */

/* Answer C with an error for M. */
static void refuse_message(struct http_conn *c, const struct rpc_msg *m,
			   int code, struct json_object *data, const char *text)
{
	int64_t retry_ms = m->code == RPC_RATE_LIMITED ? MEMORY_RETRY_MS : 0;
	struct buf out = {0};

	rpc_put_error(&out, m->id, code, text, data);
	http_conn_reply(c, http_conn_status(c, 400, retry_ms), JSON,
			buf_data(&out), buf_len(&out));
	buf_fini(&out);
}

/*
 * Take M, a message of Q without a session; FAULT has the reason if M cannot be
 * served. A message refused for FAULT counts against the rate as well.
 */
static void on_stateless(struct http_sessions *all, struct requestor *q,
			 struct http_conn *c, struct rpc_msg *m,
			 struct http_fault *fault)
{
	bool request = m->kind == RPC_REQUEST;
	int64_t wait_ms;
	char *errmsg;

	if (request && fault->code == 0) {
		http_call_take(&all->calls, q, c, m);
	} else if (!requestor_take_other(q, &wait_ms)) {
		errmsg = too_often(q, wait_ms);
		http_call_refuse(c, m->id, wait_ms, errmsg);
		free(errmsg);
	} else if (fault->code != 0) {
		refuse_message(c, m, fault->code, fault->data, fault->text);
	} else {
		http_conn_reply(c, 202, NULL, NULL, 0);
	}
	json_object_put(fault->data);
}

/* ---- the session ---- */

/* Return the session of C's request; NULL: C was refused, or waits. */
static struct http_session *find_session(struct http_sessions *all,
					 struct requestor *requestor,
					 struct http_conn *c)
{
	const char *id = http_conn_request(c)->field[HTTP_SESSION];
	struct http_session *s;

	if (id == NULL) {
		http_conn_refuse(c, 400,
				 "there is no Mcp-Session-Id; "
				 "initialize gives one, and it belongs "
				 "to every later request; a request of MCP "
				 "2026-07-28 needs none: it comes by POST, and "
				 "says its revision in MCP-Protocol-Version "
				 "and params._meta");
		return NULL;
	}
	s = http_session_find(all, requestor, id);
	if (s != NULL && s->told_id)
		return http_store_wait_looks(s, c) ? NULL : s;
	if (s != NULL || !http_store_wait_may(all, id))
		http_sessions_refuse_unknown(c);
	else if (is_within_rate(requestor, c))
		http_store_wait(all, requestor, c, id);
	return NULL;
}

/* ---- POST ---- */

static void on_initialize(struct http_sessions *all,
			  struct requestor *requestor, struct http_conn *c,
			  struct rpc_msg *m)
{
	struct http_session *s = http_session_new(all, requestor);

	if (s == NULL) {
		http_sessions_refuse_full(all, requestor, c);
		return;
	}
	http_exchange_deliver(http_stream_new(s, c), m);
	if (!s->told_id)
		http_session_end(s, "it was not initialized");
	else
		log_info("http", "session=%.8s requestor=%s begun=yes", s->id,
			 requestor->name);
}

/* Serve M, which came on C. NULL: a large message, to be read on a thread. */
static void on_message(struct http_session *s, struct http_conn *c,
		       struct rpc_msg *m)
{
	struct http_exchanges *all = &s->all->exchanges;
	struct http_exchange *st;

	if (!http_share_has_room(
		&all->share, s->session.requestor,
		http_exchange_is_slow(s->all->ctx, m,
				      s->session.terms.revision))) {
		http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
		http_conn_refuse(c, 429, HTTP_SHARE_FULL);
		return;
	}
	st = http_stream_new(s, c);
	if (m == NULL || m->kind == RPC_BATCH || m->kind == RPC_REQUEST)
		http_exchange_request(st, m);
	else
		http_exchange_deliver(st, m);
}

/* Serve M, which belongs to a session or begins a session. */
static void on_sessions(struct http_sessions *all, struct requestor *requestor,
			struct http_conn *c, struct rpc_msg *m)
{
	const struct http_request *r = http_conn_request(c);
	bool known = r->field[HTTP_SESSION] != NULL;
	struct http_session *s;

	if (m->kind != RPC_REQUEST && !is_within_rate(requestor, c))
		return;
	if (m->kind == RPC_BROKEN && (!known || http_era_names_stateless(r)))
		refuse_message(c, m, m->code, NULL, m->text);
	else if (http_era_names_no_session(r))
		refuse_revision(c, r->field[HTTP_REVISION]);
	else if (m->kind == RPC_REQUEST && !known &&
		 strcmp(m->method, "initialize") == 0)
		on_initialize(all, requestor, c, m);
	else if ((s = find_session(all, requestor, c)) != NULL)
		on_message(s, c, m);
}

/* Serve M, which came on C. The caller frees any part of M left over. */
static void on_whole(struct http_sessions *all, struct requestor *requestor,
		     struct http_conn *c, struct rpc_msg *m)
{
	struct http_fault fault;

	if (http_era_of(http_conn_request(c), m, &fault) == HTTP_ERA_SESSIONS)
		on_sessions(all, requestor, c, m);
	else
		on_stateless(all, requestor, c, m, &fault);
}

/* Serve M, the large request of X; M is freed. */
static void on_parsed(struct http_exchange *x, struct rpc_msg *m)
{
	struct http_sessions *all =
	    CONTAINER(x->of->all, struct http_sessions, exchanges);
	struct requestor *q = x->of->session->requestor;
	struct http_conn *c = x->conn;
	struct http_fault fault;

	if (!http_exchange_is_resumable(x)) {
		on_whole(all, q, http_exchange_close(x), m);
	} else if (http_era_of(http_conn_request(c), m, &fault) !=
		   HTTP_ERA_SESSIONS) {
		http_exchange_close(x);
		on_stateless(all, q, c, m, &fault);
	} else if (m->kind == RPC_REQUEST || is_within_rate(q, c)) {
		http_exchange_apply(x, EXCHANGE_ON_DELIVER);
		http_exchange_deliver(x, m);
	} else {
		http_exchange_close(x);
	}
	rpc_async_free(all->ctx->thread_pool, q, m);
}

/*
 * Read a large message: in its session if C's head names a session and no
 * stateless revision, else as a call on its own.
 */
static void on_large(struct http_sessions *all, struct requestor *requestor,
		     struct http_conn *c)
{
	const struct http_request *r = http_conn_request(c);
	struct http_session *s;

	if (r->field[HTTP_SESSION] == NULL || http_era_names_stateless(r))
		http_call_take(&all->calls, requestor, c, NULL);
	else if (http_era_names_no_session(r))
		refuse_revision(c, r->field[HTTP_REVISION]);
	else if ((s = find_session(all, requestor, c)) != NULL)
		on_message(s, c, NULL);
}

static void on_post(struct http_sessions *all, struct requestor *requestor,
		    struct http_conn *c)
{
	const struct buf *body = &http_conn_request(c)->body;
	struct rpc_msg m;

	if (rpc_async_takes_thread(buf_data(body), buf_len(body))) {
		on_large(all, requestor, c);
		return;
	}
	rpc_async_parse_now(requestor, &m,
			    buf_len(body) > 0 ? buf_data(body) : "",
			    buf_len(body));
	on_whole(all, requestor, c, &m);
	/* M is empty if taken */
	rpc_async_free(all->ctx->thread_pool, requestor, &m);
}

/* ---- GET, DELETE ---- */

/*
 * Resume a stream. For a stream which has ended without an answer the official
 * clients come back again and again: only 405 stops them.
 */
static void resume_stream(struct http_session *s, struct http_conn *c,
			  const char *last)
{
	struct sse_id id;

	switch (http_stream_resume(s, c, last, &id)) {
	case HTTP_RESUMED:
		break;
	case HTTP_RESUME_ELSEWHERE:
		http_store_wait_owner(s, c, &id);
		break;
	case HTTP_RESUME_OVER:
		http_conn_fields(c, "Allow: " HTTP_MCP_ALLOW "\r\n");
		http_conn_refuse(c, 405,
				 "the stream of that Last-Event-ID is "
				 "over, and nothing that came after it "
				 "is kept; a GET without one hears what "
				 "is new");
		break;
	case HTTP_RESUME_NONE:
		http_conn_refuse(c, 400,
				 "this session never had an event of "
				 "that Last-Event-ID; a GET without "
				 "one hears what is new");
		break;
	}
}

static void on_get(struct http_session *s, struct http_conn *c)
{
	const char *last = http_conn_request(c)->field[HTTP_LAST_EVENT];

	if (!http_share_allows_stream(&s->all->exchanges.share,
				      s->session.requestor)) {
		http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
		http_conn_refuse(c, 429,
				 "too many streams are open; close "
				 "some, or try again later");
	} else if (last == NULL) {
		http_stream_listen(s, c);
	} else {
		resume_stream(s, c, last);
	}
}

void http_mcp_request(struct http_sessions *all, struct requestor *requestor,
		      struct http_conn *c)
{
	enum http_method method = http_conn_request(c)->method;
	struct http_session *s;

	if (method == HTTP_IS_POST) {
		on_post(all, requestor, c);
		return;
	}
	if (!is_within_rate(requestor, c))
		return;
	s = find_session(all, requestor, c);
	if (s != NULL && method == HTTP_IS_GET)
		on_get(s, c);
	else if (s != NULL)
		http_store_wait_deleted(s, c);
}

/* ---- start and end ---- */

void http_mcp_init(struct http_sessions *all, struct context *ctx,
		   const struct http_usage *conns)
{
	*all = (struct http_sessions){.ctx = ctx, .ops = &http_session_ops};
	http_exchanges_init(&all->exchanges, ctx, conns, on_parsed);
	TAILQ_INIT(&all->by_use);
	TAILQ_INIT(&all->store_waits);
	http_session_store_init(all);
	http_calls_init(&all->calls, &all->exchanges);
}

void http_mcp_fini(struct http_sessions *all)
{
	struct http_session *s;

	http_store_waits_fini(all);
	http_session_store_all(all);
	all->closing = true;
	http_calls_fini(&all->calls);
	while ((s = TAILQ_FIRST(&all->by_use)) != NULL)
		http_session_end(s, "the server ends");
	http_session_store_fini(all);
	http_exchanges_fini(&all->exchanges);
}
