/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.c - a POST of a revision without sessions: an exchange with a
 * session of its own. http_mcp.c calls it. When a client goes, its call is
 * cancelled. A client with too many calls is told to come later.
 */
#include "supervisor/clients/stateless_http/http_call.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/request.h"

/* With more unread bytes a call gets no message which can wait. */
#define CALL_UNREAD (SSE_PASSING_MAX / 2)

struct http_call {
	struct http_calls *all; /* borrowed */
	struct http_exchange exchange;
	struct http_conversation conversation; /* of EXCHANGE alone */
	struct session session;
	unsigned tokens; /* requestor.tokens when the call came */
};

static struct http_call *call_of(struct http_exchange *x)
{
	return CONTAINER(x, struct http_call, exchange);
}

/* ---- life ---- */

/*
 * The exchange of a call has ended. bury_all() frees the call later, since the
 * answering method uses the session to the end; requests under way are
 * cancelled then.
 */
static void on_closed(struct http_exchange *x)
{
	struct http_calls *calls = call_of(x)->all;

	TAILQ_REMOVE(&calls->alive, x, link);
	TAILQ_INSERT_TAIL(&calls->over, x, link);
	event_active(calls->bury, 0, 0);
}

static void bury_all(evutil_socket_t fd, short what, void *arg)
{
	struct http_calls *calls = arg;
	struct http_exchange *x;

	(void)fd, (void)what;
	while ((x = TAILQ_FIRST(&calls->over)) != NULL) {
		struct http_call *call = call_of(x);

		while (!calls->closing && call->session.requests != NULL)
			request_drop(call->session.requests, true);
		TAILQ_REMOVE(&calls->over, x, link);
		session_fini(&call->session);
		free(call);
	}
}

/*
 * Does X's client wait? A client which has closed its sending side is taken for
 * gone: the call is ended. Returns false then.
 */
static bool has_client(struct http_exchange *x)
{
	if (!http_conn_ended(x->conn))
		return true;
	http_exchange_end(
	    x, 400,
	    "the client ended its side of the connection before it had "
	    "the answer, which cancels the call; keep it open to wait");
	return false;
}

static const struct http_exchange_ops exchange_ops = {.closed = on_closed,
						      .may_begin = has_client};

/* ---- the functions for the session ---- */

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	(void)arg;
	if (stream != NULL)
		http_exchange_send(stream, text, len,
				   len > CALL_UNREAD ? SSE_LARGE : SSE_PASSING);
}

static bool has_push_stream(void *arg)
{
	(void)arg;
	return false;
}

static bool is_backlogged(void *arg)
{
	const struct http_call *call = arg;

	return call->exchange.sse.bytes > CALL_UNREAD ||
	       http_share_is_backlogged(&call->all->exchanges->share,
					call->session.requestor);
}

static void on_read_done(void *arg)
{
	struct http_call *call = arg;

	http_conversation_read_on(&call->conversation);
}

static const char *call_field(void *arg, const char *name)
{
	const struct http_conn *c = ((struct http_call *)arg)->exchange.conn;

	return c != NULL ? http_param(http_conn_request(c), name) : NULL;
}

static const struct session_ops session_ops = {
    .send = on_send,
    .answer = http_exchange_answer,
    .answer_taken = http_exchange_answer_taken,
    .has_push_stream = has_push_stream,
    .has_reader = http_exchange_has_reader,
    .backlogged = is_backlogged,
    .read_done = on_read_done,
    .field = call_field,
};

/* ---- the request of a call ---- */

static struct http_exchange *call_new(struct http_calls *all,
				      struct requestor *q, struct http_conn *c)
{
	struct http_call *call = xcalloc(1, sizeof(*call));
	struct http_exchange *x = &call->exchange;

	call->all = all;
	call->tokens = q->tokens;
	session_init(&call->session, all->exchanges->ctx, q, &session_ops,
		     call);
	call->session.via = TRUST_REMOTE;
	http_conversation_init(&call->conversation, all->exchanges,
			       &call->session);
	http_exchange_init(x, &call->conversation, &exchange_ops, 0);
	TAILQ_INSERT_TAIL(&all->alive, x, link);
	http_exchange_apply(x, EXCHANGE_ON_REQUEST);
	http_exchange_attach(x, c);
	return x;
}

void http_call_refuse(struct http_conn *c, const char *id, int64_t retry_ms,
		      const char *errmsg)
{
	struct json_object *data =
	    json_pack("errorCode:s retryAfterMs:i", "RATE_LIMITED", retry_ms);
	struct buf out = {0};

	rpc_put_error(&out, id, mcp_error_code(RPC_RATE_LIMITED, MCP_LATEST),
		      errmsg, data);
	http_conn_reply(c, http_conn_status(c, 0, retry_ms), "application/json",
			buf_data(&out), buf_len(&out));
	buf_fini(&out);
	json_object_put(data);
}

void http_call_take(struct http_calls *all, struct requestor *q,
		    struct http_conn *c, struct rpc_msg *m)
{
	bool slow = http_exchange_is_slow(all->exchanges->ctx, m, MCP_LATEST);
	struct http_exchange *x;

	if (!http_share_has_room(&all->exchanges->share, q, slow)) {
		http_call_refuse(c, m != NULL ? m->id : NULL,
				 HTTP_RETRY_SOON_MS, HTTP_SHARE_FULL);
		return;
	}
	x = call_new(all, q, c);
	/* a large message was deferred before it was parsed */
	if (m != NULL && rpc_async_is_large(m->bytes))
		http_exchange_deliver(x, m);
	else
		http_exchange_request(x, m);
}

/* ---- the calls of a server ---- */

void http_calls_init(struct http_calls *all, struct http_exchanges *exchanges)
{
	*all = (struct http_calls){.exchanges = exchanges};
	TAILQ_INIT(&all->alive);
	TAILQ_INIT(&all->over);
	all->bury = event_new(exchanges->ctx->base, -1, 0, bury_all, all);
}

void http_calls_fini(struct http_calls *all)
{
	struct http_exchange *x;

	all->closing = true;
	while ((x = TAILQ_FIRST(&all->alive)) != NULL)
		http_exchange_end(x, 503, "the server is about to end");
	bury_all(-1, 0, all);
	event_free(all->bury);
}

void http_calls_recheck(struct http_calls *all, bool anybody)
{
	struct http_exchange *x, *after;

	for (x = TAILQ_FIRST(&all->alive); x != NULL; x = after) {
		const struct http_call *call = call_of(x);
		const struct requestor *q = call->session.requestor;

		after = TAILQ_NEXT(x, link);
		if (requestor_is_anonymous(q) ? !anybody
					      : call->tokens != q->tokens)
			http_exchange_end(
			    x, 401,
			    "the token that the call came with is good no "
			    "more, which cancels it; ask the operator");
	}
}
