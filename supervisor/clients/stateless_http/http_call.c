/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.c - a POST of a revision without sessions: its turn, its answer or
 * stream, its end. http_mcp.c calls it. When a client goes, its call is
 * cancelled. A client with too many calls is told to come later; a client which
 * does not read loses old notifications.
 */
#include "supervisor/clients/stateless_http/http_call.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/session/dispatch.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/clients/http/http_share.h"
#include "supervisor/clients/http/sse.h"
#include "supervisor/run/threads/rpc_async.h"

/* With more unread bytes a call gets no message which can wait. */
#define CALL_UNREAD (SSE_PASSING_MAX / 2)

enum call_state {
	CALL_NEW,
	CALL_DEFERRED,	/* waits, since the requestor reads too much */
	CALL_READY,	/* was deferred, and may begin now */
	CALL_PARSING,	/* a thread reads the large message */
	CALL_WAITING,	/* a plain answer is awaited */
	CALL_UPGRADING, /* as WAITING; events begin at HTTP_PLAIN_MS */
	CALL_EVENTS,	/* events are sent, the last of them the answer */
	CALL_LAST,	/* the answer was added, but is not all put yet */
	CALL_OVER,	/* the connection is gone, or serves another request */
	CALL_STATES
};

struct http_call {
	struct http_calls *all; /* borrowed */
	struct session session;
	struct http_conn *conn; /* borrowed; NULL in CALL_OVER */
	enum call_state state;
	unsigned tokens;	     /* requestor.tokens when the call came */
	struct rpc_async *parsing;   /* while CALL_PARSING */
	struct sse sse;		     /* events which CONN has no room for yet */
	int64_t since_ms;	     /* when CALL_UPGRADING began */
	TAILQ_ENTRY(http_call) link; /* in calls.alive, or calls.over */
	/* in calls.ready or .upgrading, by STATE */
	TAILQ_ENTRY(http_call) queue;
};

/* ---- the states of a call ---- */

#define BIT(state) (1u << (state))
#define BEFORE_EVENTS                                                          \
	(BIT(CALL_NEW) | BIT(CALL_DEFERRED) | BIT(CALL_READY) |                \
	 BIT(CALL_PARSING) | BIT(CALL_WAITING) | BIT(CALL_UPGRADING))

/* The states from which each state can be entered. */
static const unsigned from[CALL_STATES] = {
    [CALL_DEFERRED] = BIT(CALL_NEW) | BIT(CALL_READY),
    [CALL_READY] = BIT(CALL_DEFERRED),
    [CALL_PARSING] = BIT(CALL_NEW) | BIT(CALL_READY),
    [CALL_WAITING] = BIT(CALL_NEW) | BIT(CALL_READY),
    [CALL_UPGRADING] = BIT(CALL_WAITING),
    [CALL_EVENTS] = BIT(CALL_WAITING) | BIT(CALL_UPGRADING),
    [CALL_LAST] = BIT(CALL_EVENTS),
    [CALL_OVER] = BEFORE_EVENTS | BIT(CALL_EVENTS) | BIT(CALL_LAST),
};

static struct http_call_list *queue_of(const struct http_call *call)
{
	struct http_calls *calls = call->all;

	if (call->state == CALL_READY)
		return &calls->ready;
	return call->state == CALL_UPGRADING ? &calls->upgrading : NULL;
}

/* Set the state of CALL, as only this function does. */
static void enter(struct http_call *call, enum call_state state)
{
	struct http_call_list *queue = queue_of(call);

	assert((from[state] & BIT(call->state)) != 0);
	if (queue != NULL)
		TAILQ_REMOVE(queue, call, queue);
	call->state = state;
	queue = queue_of(call);
	if (queue != NULL)
		TAILQ_INSERT_TAIL(queue, call, queue);
}

static bool is_begun(const struct http_call *call)
{
	return (BEFORE_EVENTS & BIT(call->state)) == 0;
}

/* ---- life ---- */

/* Count the bytes of CALL's events, which were BYTES before. */
static void account(struct http_call *call, size_t bytes)
{
	struct requestor *q = call->session.requestor;

	q->http_live_bytes += call->sse.bytes - bytes;
	http_conn_due(call->conn, call->sse.bytes);
}

/* Add MORE (1 or -1) to the counts of calls with a connection. */
static void count(const struct http_call *call, int more)
{
	struct requestor *q = call->session.requestor;

	q->http_open_streams += (size_t)more;
	q->http_streams += (size_t)more;
	call->all->share->n_read += (size_t)more;
}

/*
 * End CALL and return the connection, which is the caller's. bury_all() frees
 * CALL later, since the answering method uses the session to the end; requests
 * under way are cancelled then.
 */
static struct http_conn *leave(struct http_call *call)
{
	struct http_calls *calls = call->all;
	struct http_conn *conn = call->conn;
	size_t bytes = call->sse.bytes;

	http_conn_watch(conn, NULL, NULL);
	sse_fini(&call->sse);
	account(call, bytes);
	rpc_async_cancel(call->parsing);
	call->parsing = NULL;
	call->conn = NULL;
	count(call, -1);
	enter(call, CALL_OVER);
	TAILQ_REMOVE(&calls->alive, call, link);
	TAILQ_INSERT_TAIL(&calls->over, call, link);
	event_active(calls->bury, 0, 0);
	return conn;
}

static void bury_all(evutil_socket_t fd, short what, void *arg)
{
	struct http_calls *calls = arg;
	struct http_call *call;

	(void)fd, (void)what;
	while ((call = TAILQ_FIRST(&calls->over)) != NULL) {
		while (!calls->closing && call->session.requests != NULL)
			request_drop(call->session.requests, true);
		TAILQ_REMOVE(&calls->over, call, link);
		session_fini(&call->session);
		free(call);
	}
}

/* End CALL. The client is told why, unless a stream has begun. */
static void end(struct http_call *call, int status, const char *errmsg)
{
	bool begun = is_begun(call);
	struct http_conn *conn = leave(call);

	if (begun)
		http_conn_end(conn);
	else
		http_conn_refuse(conn, status, "%s", errmsg);
}

/* ---- the events of a call ---- */

static void pump(struct http_call *call)
{
	size_t bytes = call->sse.bytes;
	const struct sse_event *e;

	while ((e = TAILQ_FIRST(&call->sse.events)) != NULL &&
	       http_conn_unsent(call->conn) < HTTP_UNSENT_LOW) {
		http_conn_put_event(call->conn, &call->sse, e);
		sse_drop(&call->sse);
	}
	account(call, bytes);
	if (e == NULL && call->state == CALL_LAST)
		http_conn_end(leave(call));
}

/* Count and send an event added to CALL, which kept BYTES before. */
static void added(struct http_call *call, size_t bytes)
{
	const struct requestor *q = call->session.requestor;

	if (q->http_live_bytes + call->sse.bytes - bytes > HTTP_OPEN_BYTES)
		sse_trim(&call->sse, HTTP_OPEN_TIGHT);
	account(call, bytes);
	pump(call);
}

static void put(struct http_call *call, const char *text, size_t len,
		enum sse_kind kind)
{
	size_t bytes = call->sse.bytes;

	sse_add(&call->sse, text, len, kind);
	added(call, bytes);
}

static void on_gone(void *watcher)
{
	leave(watcher);
}

static void on_drained(void *watcher)
{
	struct http_call *call = watcher;

	if (is_begun(call))
		pump(call);
}

static const struct http_watch watch = {.gone = on_gone, .drained = on_drained};

/*
 * Does CALL's client wait? A client which has closed its sending side is taken
 * for gone: CALL is ended. Returns false then.
 */
static bool has_client(struct http_call *call)
{
	if (!http_conn_ended(call->conn))
		return true;
	end(call, 400,
	    "the client ended its side of the connection before it had "
	    "the answer, which cancels the call; keep it open to wait");
	return false;
}

/* Begin a stream of events. False: the client is gone. */
static bool begin(struct http_call *call)
{
	if (is_begun(call))
		return true;
	if (!has_client(call))
		return false;
	enter(call, CALL_EVENTS);
	http_conn_begin(call->conn);
	return true;
}

static void await(struct http_calls *calls, int64_t now_ms)
{
	const struct http_call *first = TAILQ_FIRST(&calls->upgrading);

	if (first != NULL && !evtimer_pending(calls->upgrade, NULL))
		evtimer_add(
		    calls->upgrade,
		    CLOCK_TIMEVAL(first->since_ms + HTTP_PLAIN_MS - now_ms));
}

/* Begin a stream soon, so that the client and proxies hear from the server. */
static void begin_soon(struct http_call *call)
{
	call->since_ms = clock_mono_ms();
	enter(call, CALL_UPGRADING);
	await(call->all, call->since_ms);
}

static void upgrade_due(evutil_socket_t fd, short what, void *arg)
{
	struct http_calls *calls = arg;
	int64_t now_ms = clock_mono_ms();
	struct http_call *call;

	(void)fd, (void)what;
	while ((call = TAILQ_FIRST(&calls->upgrading)) != NULL &&
	       call->since_ms + HTTP_PLAIN_MS <= now_ms)
		begin(call);
	await(calls, now_ms);
}

/* ---- the functions for the session ---- */

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	struct http_call *call = arg;

	if (stream != NULL && call->state != CALL_OVER && begin(call))
		put(call, text, len,
		    len > CALL_UNREAD ? SSE_LARGE : SSE_PASSING);
}

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	struct http_call *call = arg;
	struct http_conn *conn;

	(void)stream;
	if (call->state == CALL_OVER)
		return;
	if (is_begun(call)) {
		enter(call, CALL_LAST);
		put(call, text, len, SSE_LAST);
		return;
	}
	conn = leave(call);
	http_conn_reply(conn,
			http_conn_status(conn, hint.status, hint.retry_ms),
			"application/json", text, len);
}

static void on_answer_taken(void *arg, void *stream, struct buf *answer,
			    struct reply_hint hint)
{
	struct http_call *call = arg;
	size_t bytes = call->sse.bytes;

	if (call->state == CALL_OVER || !is_begun(call)) {
		on_answer(arg, stream, buf_data(answer), buf_len(answer), hint);
		return;
	}
	enter(call, CALL_LAST);
	sse_add_taken(&call->sse, answer, SSE_LAST);
	added(call, bytes);
}

static bool has_push_stream(void *arg)
{
	(void)arg;
	return false;
}

static bool has_reader(void *arg, void *stream)
{
	const struct http_call *call = arg;

	(void)stream;
	return call->state != CALL_OVER;
}

static bool is_backlogged(void *arg)
{
	const struct http_call *call = arg;

	return call->sse.bytes > CALL_UNREAD ||
	       http_share_is_backlogged(call->all->share,
					call->session.requestor);
}

static void on_read_done(void *arg)
{
	struct http_call *call = arg;

	if (call->state != CALL_DEFERRED)
		return;
	enter(call, CALL_READY);
	event_add(call->all->go_on, CLOCK_TIMEVAL(0));
}

static const char *field(void *arg, const char *name)
{
	const struct http_call *call = arg;

	return call->state != CALL_OVER
		   ? http_param(http_conn_request(call->conn), name)
		   : NULL;
}

static const struct session_ops ops = {
    .send = on_send,
    .answer = on_answer,
    .answer_taken = on_answer_taken,
    .has_push_stream = has_push_stream,
    .has_reader = has_reader,
    .backlogged = is_backlogged,
    .read_done = on_read_done,
    .field = field,
};

/* ---- the request of a call ---- */

static struct http_call *call_new(struct http_calls *all, struct requestor *q,
				  struct http_conn *c)
{
	struct http_call *call = xcalloc(1, sizeof(*call));

	call->all = all;
	call->conn = c;
	call->state = CALL_NEW;
	call->tokens = q->tokens;
	sse_init(&call->sse, 0);
	session_init(&call->session, all->ctx, q, &ops, call);
	call->session.via = TRUST_REMOTE;
	TAILQ_INSERT_TAIL(&all->alive, call, link);
	count(call, 1);
	http_conn_watch(c, &watch, call);
	return call;
}

/* Is M's method slow? All calls are of the revision MCP_LATEST. */
static bool is_slow(const struct http_calls *all, const struct rpc_msg *m)
{
	return method_is_slow(all->ctx, m->method, MCP_LATEST);
}

/* Pass M to its method, which may be SLOW. Empties M. */
static void deliver(struct http_call *call, struct rpc_msg *m, bool slow)
{
	enter(call, CALL_WAITING);
	session_take(&call->session, call, m);
	if (slow && call->state == CALL_WAITING)
		begin_soon(call);
}

static void on_parsed(void *arg, struct rpc_msg *m)
{
	struct http_call *call = arg;
	struct http_calls *all = call->all;
	struct requestor *q = call->session.requestor;

	call->parsing = NULL;
	all->take(all->arg, q, leave(call), m);
	rpc_async_free(all->ctx->thread_pool, q, m);
}

static void read_large(struct http_call *call)
{
	size_t len;
	char *text = http_conn_take_body(call->conn, &len);

	call->parsing = rpc_async_parse(call->all->ctx->thread_pool,
					call->session.requestor, text, len,
					on_parsed, call);
	if (call->parsing != NULL) {
		enter(call, CALL_PARSING);
		return;
	}
	http_conn_retry_after(call->conn, HTTP_RETRY_SOON_MS);
	end(call, 429, RPC_ASYNC_FULL);
}

/* May CALL begin now? False: CALL is deferred until on_read_done(). */
static bool may_read(struct http_call *call)
{
	if (!session_over_read_limit(&call->session))
		return true;
	enter(call, CALL_DEFERRED);
	session_wait_to_read(&call->session);
	return false;
}

static void begin_deferred(struct http_call *call)
{
	const struct buf *body = &http_conn_request(call->conn)->body;
	struct rpc_msg m;

	if (rpc_async_takes_thread(buf_data(body), buf_len(body))) {
		read_large(call);
		return;
	}
	rpc_async_parse_now(call->session.requestor, &m, buf_data(body),
			    buf_len(body));
	deliver(call, &m, is_slow(call->all, &m));
}

#define BEGUN_AT_ONCE 16 /* deferred calls begun in a turn of the loop */

static void go_on_all(evutil_socket_t fd, short what, void *arg)
{
	struct http_calls *calls = arg;
	struct http_call *call;
	int begun = 0;

	(void)fd, (void)what;
	while (begun < BEGUN_AT_ONCE &&
	       (call = TAILQ_FIRST(&calls->ready)) != NULL) {
		if (!has_client(call) || !may_read(call))
			continue;
		begin_deferred(call);
		begun++;
	}
	if (!TAILQ_EMPTY(&calls->ready))
		event_add(calls->go_on, CLOCK_TIMEVAL(0));
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
	/* a large message was deferred before */
	bool large = rpc_async_is_large(m->bytes);
	bool slow = is_slow(all, m);
	struct http_call *call;

	if (!http_share_has_room(all->share, q, slow)) {
		http_call_refuse(c, m->id, HTTP_RETRY_SOON_MS, HTTP_SHARE_FULL);
		return;
	}
	call = call_new(all, q, c);
	if (large || may_read(call))
		deliver(call, m, slow);
}

void http_call_read(struct http_calls *all, struct requestor *q,
		    struct http_conn *c)
{
	struct http_call *call;

	if (!http_share_has_room(all->share, q, true)) {
		http_call_refuse(c, NULL, HTTP_RETRY_SOON_MS, HTTP_SHARE_FULL);
		return;
	}
	call = call_new(all, q, c);
	if (may_read(call))
		read_large(call);
}

/* ---- all of them ---- */

void http_calls_init(struct http_calls *all, struct context *ctx,
		     struct http_share *share, http_call_taker take, void *arg)
{
	struct event_base *base = ctx->base;

	*all = (struct http_calls){
	    .ctx = ctx, .share = share, .take = take, .arg = arg};
	TAILQ_INIT(&all->alive);
	TAILQ_INIT(&all->over);
	TAILQ_INIT(&all->ready);
	TAILQ_INIT(&all->upgrading);
	all->go_on = event_new(base, -1, 0, go_on_all, all);
	all->upgrade = evtimer_new(base, upgrade_due, all);
	all->bury = event_new(base, -1, 0, bury_all, all);
}

void http_calls_fini(struct http_calls *all)
{
	struct http_call *call;

	all->closing = true;
	while ((call = TAILQ_FIRST(&all->alive)) != NULL)
		end(call, 503, "the server is about to end");
	bury_all(-1, 0, all);
	event_free(all->go_on);
	event_free(all->upgrade);
	event_free(all->bury);
}

void http_calls_recheck(struct http_calls *all, bool anybody)
{
	struct http_call *call, *after;

	for (call = TAILQ_FIRST(&all->alive); call != NULL; call = after) {
		const struct requestor *q = call->session.requestor;

		after = TAILQ_NEXT(call, link);
		if (requestor_is_anonymous(q) ? !anybody
					      : call->tokens != q->tokens)
			end(call, 401,
			    "the token that the call came with is good no "
			    "more, which cancels it; ask the operator");
	}
}
