/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_exchange.c - an exchange of HTTP, of either era of MCP: the states, the
 * turn to be read, the answer or stream, the end. http_mcp.c, http_stream*.c,
 * http_session*.c and http_call.c call these functions. When a client goes, an
 * exchange which cannot be resumed is closed; of a client which does not read,
 * old notifications are dropped.
 */
#include "supervisor/clients/http/http_exchange.h"

#include <assert.h>

#include "base/clock.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/dispatch.h"

static struct requestor *requestor_of(const struct http_exchange *x)
{
	return x->of->session->requestor;
}

bool http_exchange_is_resumable(const struct http_exchange *x)
{
	return x->sse.number != 0;
}

/* ---- states ---- */

/* An empty cell (EXCHANGE_NONE, 0) refuses the event. */
static const enum http_exchange_state
    next[EXCHANGE_STATES][EXCHANGE_ON_EVENTS] = {
	[EXCHANGE_NEW] = {[EXCHANGE_ON_REQUEST] = EXCHANGE_WAITING,
			  [EXCHANGE_ON_LISTEN] = EXCHANGE_PUSH},
	[EXCHANGE_WAITING] = {[EXCHANGE_ON_DEFER] = EXCHANGE_DEFERRED,
			      [EXCHANGE_ON_PARSE] = EXCHANGE_PARSING,
			      [EXCHANGE_ON_SLOW] = EXCHANGE_UPGRADING,
			      [EXCHANGE_ON_BEGIN] = EXCHANGE_EVENTS,
			      [EXCHANGE_ON_LOST] = EXCHANGE_WAITING,
			      [EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
	[EXCHANGE_DEFERRED] = {[EXCHANGE_ON_DELIVER] = EXCHANGE_WAITING,
			       [EXCHANGE_ON_LOST] = EXCHANGE_CLOSED,
			       [EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
	[EXCHANGE_PARSING] = {[EXCHANGE_ON_DELIVER] = EXCHANGE_WAITING,
			      [EXCHANGE_ON_LOST] = EXCHANGE_CLOSED,
			      [EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
	/* a client without an event id cannot resume: begin no stream */
	[EXCHANGE_UPGRADING] = {[EXCHANGE_ON_BEGIN] = EXCHANGE_EVENTS,
				[EXCHANGE_ON_LOST] = EXCHANGE_WAITING,
				[EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
	[EXCHANGE_EVENTS] = {[EXCHANGE_ON_LAST] = EXCHANGE_LAST,
			     [EXCHANGE_ON_LOST] = EXCHANGE_EVENTS,
			     [EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
	[EXCHANGE_LAST] = {[EXCHANGE_ON_LOST] = EXCHANGE_LAST,
			   [EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
	[EXCHANGE_PUSH] = {[EXCHANGE_ON_LOST] = EXCHANGE_PUSH,
			   [EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
	[EXCHANGE_CLOSED] = {[EXCHANGE_ON_CLOSE] = EXCHANGE_CLOSED},
};

enum http_exchange_state http_exchange_next(enum http_exchange_state state,
					    enum http_exchange_event ev)
{
	return next[state][ev];
}

bool http_exchange_is_begun(const struct http_exchange *x)
{
	return x->state == EXCHANGE_EVENTS || x->state == EXCHANGE_LAST ||
	       x->state == EXCHANGE_PUSH;
}

/* Is X there for a client which still hears, not kept for replay alone? */
static bool is_live(const struct http_exchange *x)
{
	return x->state != EXCHANGE_NEW && x->state != EXCHANGE_CLOSED &&
	       (x->state != EXCHANGE_LAST || !http_exchange_is_resumable(x));
}

static struct http_exchange_list *queue_of(const struct http_exchange *x)
{
	if (x->state == EXCHANGE_DEFERRED)
		return &x->of->deferred;
	if (x->state == EXCHANGE_UPGRADING)
		return &x->of->all->upgrading;
	return x->state == EXCHANGE_LAST && http_exchange_is_resumable(x)
		   ? &requestor_of(x)->http_ended
		   : NULL;
}

/* Add MORE (1 or -1) times X to the counters of its state. */
static void count_live(struct http_exchange *x, int more)
{
	struct requestor *q = requestor_of(x);

	/* other events are counted by the connection alone */
	if (http_exchange_is_resumable(x))
		memory_change(&q->memory, more < 0 ? x->sse.bytes : 0,
			      more > 0 ? x->sse.bytes : 0);
	if (is_live(x)) {
		q->http_live_bytes += (size_t)more * x->sse.bytes;
		if (x->state != EXCHANGE_PUSH)
			q->http_open_streams += (size_t)more;
	}
	if (x->ops->counted != NULL)
		x->ops->counted(x, more);
}

static void set_ready(struct http_conversation *of, bool is_ready)
{
	if (is_ready && !of->is_ready)
		TAILQ_INSERT_TAIL(&of->all->ready, of, ready);
	else if (!is_ready && of->is_ready)
		TAILQ_REMOVE(&of->all->ready, of, ready);
	of->is_ready = is_ready;
}

void http_exchange_apply(struct http_exchange *x, enum http_exchange_event ev)
{
	enum http_exchange_state to = http_exchange_next(x->state, ev);
	struct http_exchange_list *queue = queue_of(x);

	assert(to != EXCHANGE_NONE);
	if (to == x->state)
		return;
	if (queue != NULL)
		TAILQ_REMOVE(queue, x, queue);
	if (TAILQ_EMPTY(&x->of->deferred))
		set_ready(x->of, false);
	if (x->state != EXCHANGE_NEW)
		count_live(x, -1);
	x->state = to;
	if (to != EXCHANGE_CLOSED)
		count_live(x, 1);
	queue = queue_of(x);
	if (queue != NULL)
		TAILQ_INSERT_TAIL(queue, x, queue);
}

/* ---- connections ---- */

static const struct http_watch watch;

/* Add MORE (1 or -1) to the counters of exchanges with a connection. */
static void count_read(const struct http_exchange *x, int more)
{
	x->of->n_read += (size_t)more;
	x->of->all->share.n_read += (size_t)more;
	requestor_of(x)->http_streams += (size_t)more;
}

void http_exchange_attach(struct http_exchange *x, struct http_conn *conn)
{
	x->conn = conn;
	count_read(x, 1);
	http_conn_watch(conn, &watch, x);
}

void http_exchange_detach(struct http_exchange *x)
{
	if (x->conn == NULL)
		return;
	http_conn_watch(x->conn, NULL, NULL);
	http_conn_due(x->conn, 0);
	x->conn = NULL;
	count_read(x, -1);
	if (x->ops->detached != NULL)
		x->ops->detached(x);
}

void http_exchange_hang_up(struct http_exchange *x)
{
	struct http_conn *conn = x->conn;

	if (conn == NULL)
		return;
	if (http_exchange_is_resumable(x))
		http_exchange_detach(x);
	else
		http_exchange_close(x);
	http_conn_end(conn);
}

static void on_gone(void *watcher)
{
	struct http_exchange *x = watcher;
	struct session *s = x->of->session;

	if (!http_exchange_is_resumable(x)) {
		http_exchange_close(x);
		return;
	}
	http_exchange_detach(x);
	http_exchange_apply(x, EXCHANGE_ON_LOST);
	if (x->state == EXCHANGE_CLOSED)
		http_exchange_close(x);
	else if (x->state == EXCHANGE_WAITING || x->state == EXCHANGE_EVENTS)
		session_reader_lost(s, x);
	else if (x->state == EXCHANGE_PUSH && x->sse.last > 0)
		session_reader_lost(s, NULL);
}

static void on_drained(void *watcher)
{
	http_exchange_pump(watcher);
}

static const struct http_watch watch = {.gone = on_gone, .drained = on_drained};

/* ---- life ---- */

void http_exchange_init(struct http_exchange *x, struct http_conversation *of,
			const struct http_exchange_ops *ops, uint64_t number)
{
	*x =
	    (struct http_exchange){.ops = ops, .of = of, .state = EXCHANGE_NEW};
	sse_init(&x->sse, number);
}

struct http_conn *http_exchange_close(struct http_exchange *x)
{
	struct http_conn *conn = x->conn;

	http_exchange_detach(x);
	rpc_async_cancel(x->parsing);
	x->parsing = NULL;
	http_exchange_apply(x, EXCHANGE_ON_CLOSE);
	sse_fini(&x->sse);
	x->ops->closed(x);
	return conn;
}

void http_exchange_end(struct http_exchange *x, int status, const char *errmsg)
{
	bool begun = http_exchange_is_begun(x);
	struct http_conn *conn = http_exchange_close(x);

	if (conn == NULL)
		return;
	if (begun)
		http_conn_end(conn);
	else if (errmsg != NULL)
		http_conn_refuse(conn, status, "%s", errmsg);
	else
		http_conn_reply(conn, status, NULL, NULL, 0);
}

/* ---- the events of an exchange ---- */

/* Count the bytes of X's events, which were BYTES before. */
static void account_event(struct http_exchange *x, size_t bytes)
{
	struct requestor *q = requestor_of(x);

	q->http_live_bytes += x->sse.bytes - bytes;
	if (http_exchange_is_resumable(x))
		memory_change(&q->memory, bytes, x->sse.bytes);
}

void http_exchange_pump(struct http_exchange *x)
{
	const struct sse_event *e, *after;
	size_t bytes;

	if (x->conn == NULL || !http_exchange_is_begun(x))
		return;
	for (e = sse_after(&x->sse, x->sent);
	     e != NULL && http_conn_unsent(x->conn) < HTTP_UNSENT_LOW;
	     e = after) {
		after = TAILQ_NEXT(e, link);
		http_conn_put_event(x->conn, &x->sse, e);
		x->sent = e->seq;
		if (http_exchange_is_resumable(x))
			continue;
		bytes = x->sse.bytes;
		sse_drop(&x->sse);
		account_event(x, bytes);
	}
	http_conn_due(x->conn, sse_bytes_after(&x->sse, x->sent));
	if (e == NULL && x->state == EXCHANGE_LAST)
		http_exchange_hang_up(x);
}

void http_exchange_prime(struct http_exchange *x)
{
	struct buf out = {0};

	/* an earlier revision's client would take the event for a message */
	if (!http_exchange_is_resumable(x) ||
	    x->of->session->terms.revision < MCP_2025_11_25)
		return;
	sse_put_priming(&out, &x->sse, HTTP_RETRY_MS);
	http_conn_put(x->conn, buf_data(&out), buf_len(&out));
	buf_fini(&out);
}

static bool may_begin(struct http_exchange *x)
{
	return x->ops->may_begin == NULL || x->ops->may_begin(x);
}

bool http_exchange_begin(struct http_exchange *x)
{
	if (http_exchange_is_begun(x))
		return true;
	if (!may_begin(x))
		return false;
	http_exchange_apply(x, EXCHANGE_ON_BEGIN);
	if (x->conn == NULL)
		return true;
	http_conn_begin(x->conn);
	http_exchange_prime(x);
	return true;
}

static void await_upgrade(struct http_exchanges *all, int64_t now_ms)
{
	const struct http_exchange *first = TAILQ_FIRST(&all->upgrading);

	if (first != NULL && !evtimer_pending(all->upgrade, NULL))
		evtimer_add(
		    all->upgrade,
		    CLOCK_TIMEVAL(first->since_ms + HTTP_PLAIN_MS - now_ms));
}

static void upgrade_due(evutil_socket_t fd, short what, void *arg)
{
	struct http_exchanges *all = arg;
	int64_t now_ms = clock_mono_ms();
	struct http_exchange *x;

	(void)fd, (void)what;
	while ((x = TAILQ_FIRST(&all->upgrading)) != NULL &&
	       x->since_ms + HTTP_PLAIN_MS <= now_ms)
		http_exchange_begin(x);
	await_upgrade(all, now_ms);
}

/*
 * Send an event added to X, and keep few others while the requestor has much.
 */
static void added(struct http_exchange *x)
{
	const struct requestor *q = requestor_of(x);
	size_t bytes;

	http_exchange_pump(x);
	if (!is_live(x) || q->http_live_bytes <= HTTP_OPEN_BYTES)
		return;
	bytes = x->sse.bytes;
	sse_trim(&x->sse, HTTP_OPEN_TIGHT);
	account_event(x, bytes);
	http_exchange_pump(x);
}

void http_exchange_send(struct http_exchange *x, const char *text, size_t len,
			enum sse_kind kind)
{
	size_t bytes = x->sse.bytes;

	if (x->state == EXCHANGE_CLOSED || !http_exchange_begin(x))
		return;
	sse_add(&x->sse, text, len, kind);
	account_event(x, bytes);
	added(x);
}

/* Add the last event, TEXT or *taken* ANSWER; both NULL: there is none. */
static void finish_exchange(struct http_exchange *x, const char *text,
			    size_t len, struct buf *answer)
{
	size_t bytes = x->sse.bytes;

	if (answer != NULL)
		sse_add_taken(&x->sse, answer, SSE_LAST);
	else if (text != NULL)
		sse_add(&x->sse, text, len, SSE_LAST);
	account_event(x, bytes);
	http_exchange_apply(x, EXCHANGE_ON_LAST);
	added(x);
}

void http_exchange_answer(void *arg, void *exchange, const char *text,
			  size_t len, struct reply_hint hint)
{
	struct http_exchange *x = exchange;
	struct http_conn *conn;

	(void)arg;
	if (http_exchange_is_begun(x)) {
		finish_exchange(x, text, len, NULL);
		return;
	}
	if (x->state == EXCHANGE_CLOSED)
		return;
	conn = http_exchange_close(x);
	if (conn == NULL)
		return;
	if (text == NULL) /* the request was cancelled */
		http_conn_reply(conn, 202, NULL, NULL, 0);
	else
		http_conn_reply(
		    conn, http_conn_status(conn, hint.status, hint.retry_ms),
		    "application/json", text, len);
}

void http_exchange_answer_taken(void *arg, void *exchange, struct buf *answer,
				struct reply_hint hint)
{
	if (http_exchange_is_begun(exchange))
		finish_exchange(exchange, NULL, 0, answer);
	else
		http_exchange_answer(arg, exchange, buf_data(answer),
				     buf_len(answer), hint);
}

bool http_exchange_has_reader(void *arg, void *exchange)
{
	const struct http_exchange *x = exchange;

	(void)arg;
	return x->conn != NULL;
}

/* ---- the request of an exchange ---- */

bool http_exchange_is_slow(const struct context *ctx, const struct rpc_msg *m,
			   enum mcp_revision revision)
{
	if (m == NULL || m->kind == RPC_BATCH)
		return true;
	return m->kind == RPC_REQUEST &&
	       method_is_slow(ctx, m->method, revision);
}

static void on_parsed(void *arg, struct rpc_msg *m)
{
	struct http_exchange *x = arg;

	x->parsing = NULL;
	x->of->all->parsed(x, m);
}

static void read_large(struct http_exchange *x)
{
	size_t len;
	char *text = http_conn_take_body(x->conn, &len);

	x->parsing = rpc_async_parse(x->of->all->ctx->thread_pool,
				     requestor_of(x), text, len, on_parsed, x);
	if (x->parsing != NULL) {
		http_exchange_apply(x, EXCHANGE_ON_PARSE);
		return;
	}
	http_conn_retry_after(x->conn, HTTP_RETRY_SOON_MS);
	http_exchange_end(x, 429, RPC_ASYNC_FULL);
}

void http_exchange_deliver(struct http_exchange *x, struct rpc_msg *m)
{
	if (m == NULL) {
		read_large(x);
		return;
	}
	if (http_exchange_is_slow(x->of->all->ctx, m,
				  http_exchange_is_resumable(x)
				      ? x->of->session->terms.revision
				      : MCP_LATEST)) {
		/*
		 * begin a stream soon, so that the client and proxies hear from the
		 * server; most answers come sooner, as a plain answer, which costs the
		 * client one read instead of two
		 */
		x->since_ms = clock_mono_ms();
		http_exchange_apply(x, EXCHANGE_ON_SLOW);
		await_upgrade(x->of->all, x->since_ms);
	}
	if (!session_take(x->of->session, x, m))
		http_exchange_end(x, 202, NULL);
}

void http_exchange_request(struct http_exchange *x, struct rpc_msg *m)
{
	if (session_over_read_limit(x->of->session)) {
		http_exchange_apply(x, EXCHANGE_ON_DEFER);
		session_wait_to_read(x->of->session);
	} else {
		http_exchange_deliver(x, m);
	}
}

/*
 * Begin the first deferred request of OF, whose next request waits for another
 * turn. False: the session still reads too much, and waits.
 */
static bool continue_conversation(struct http_conversation *of)
{
	struct http_exchange *x = TAILQ_FIRST(&of->deferred);
	const struct buf *body;
	struct rpc_msg m;

	set_ready(of, false);
	if (!may_begin(x))
		return true;
	if (session_over_read_limit(of->session)) {
		session_wait_to_read(of->session);
		return false;
	}
	http_exchange_apply(x, EXCHANGE_ON_DELIVER);
	set_ready(of, !TAILQ_EMPTY(&of->deferred));
	body = &http_conn_request(x->conn)->body;
	if (rpc_async_takes_thread(buf_data(body), buf_len(body))) {
		read_large(x);
		return true;
	}
	rpc_async_parse_now(requestor_of(x), &m, buf_data(body), buf_len(body));
	http_exchange_deliver(x, &m);
	return true;
}

#define BEGUN_AT_ONCE 16 /* deferred requests in a turn of the loop */

/*
 * Begin the first deferred request of each session, then the second, and so on;
 * the loop serves other events in between.
 */
static void go_on_all(evutil_socket_t fd, short what, void *arg)
{
	struct http_exchanges *all = arg;
	struct http_conversation *of;
	int begun = 0;

	(void)fd, (void)what;
	while (begun < BEGUN_AT_ONCE && (of = TAILQ_FIRST(&all->ready)) != NULL)
		begun += continue_conversation(of);
	if (!TAILQ_EMPTY(&all->ready))
		event_add(all->go_on, CLOCK_TIMEVAL(0));
}

void http_conversation_read_on(struct http_conversation *of)
{
	if (TAILQ_EMPTY(&of->deferred))
		return;
	set_ready(of, true);
	event_add(of->all->go_on, CLOCK_TIMEVAL(0));
}

/* ---- the exchanges of a server ---- */

void http_conversation_init(struct http_conversation *of,
			    struct http_exchanges *all, struct session *s)
{
	*of = (struct http_conversation){.all = all, .session = s};
	TAILQ_INIT(&of->deferred);
}

void http_exchanges_init(struct http_exchanges *all, struct context *ctx,
			 const struct http_usage *conns,
			 void (*parsed)(struct http_exchange *x,
					struct rpc_msg *m))
{
	*all = (struct http_exchanges){
	    .ctx = ctx, .share = {.conns = conns}, .parsed = parsed};
	TAILQ_INIT(&all->upgrading);
	TAILQ_INIT(&all->ready);
	all->upgrade = evtimer_new(ctx->base, upgrade_due, all);
	all->go_on = event_new(ctx->base, -1, 0, go_on_all, all);
}

void http_exchanges_fini(struct http_exchanges *all)
{
	event_free(all->upgrade);
	event_free(all->go_on);
}
