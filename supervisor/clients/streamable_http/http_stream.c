/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream.c - brings the messages of a request to the client: a plain
 * answer, or events which outlive the connection, within bounds for sessions
 * and requestors. http_mcp.c and http_session*.c call it. When a connection is
 * lost, events are kept for replay; over the bounds the oldest events are
 * dropped.
 */
#include "supervisor/clients/streamable_http/http_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/fair_share.h"
#include "supervisor/run/threads/rpc_async.h"

/* ---- connections ---- */

static const struct http_watch watch;

void http_stream_attach(struct http_stream *st, struct http_conn *conn)
{
	st->conn = conn;
	st->owner->n_read++;
	st->owner->session.requestor->http_streams++;
	st->owner->all->share.n_read++;
	http_conn_watch(conn, &watch, st);
}

void http_stream_detach(struct http_stream *st)
{
	if (st->conn == NULL)
		return;
	http_conn_watch(st->conn, NULL, NULL);
	http_conn_due(st->conn, 0);
	st->conn = NULL;
	st->owner->n_read--;
	st->owner->session.requestor->http_streams--;
	st->owner->all->share.n_read--;
	http_session_used(st->owner);
}

/* End the HTTP response of ST. The connection may serve another request. */
void http_stream_hang_up(struct http_stream *st)
{
	struct http_conn *conn = st->conn;

	if (conn == NULL)
		return;
	http_stream_detach(st);
	http_conn_end(conn);
}

/* ---- life ---- */

struct http_stream *http_stream_make(struct http_session *s)
{
	struct http_stream *st = xcalloc(1, sizeof(*st));

	st->owner = s;
	st->state = STREAM_NEW;
	sse_init(&st->sse, ++s->last_stream);
	if (s->instance[0] != '\0')
		st->sse.instance = s->instance;
	return st;
}

struct http_stream *http_stream_new(struct http_session *s,
				    struct http_conn *conn)
{
	struct http_stream *st = http_stream_make(s);

	http_stream_apply(st, STREAM_ON_REQUEST);
	http_stream_attach(st, conn);
	return st;
}

void http_stream_free(struct http_stream *st)
{
	http_stream_detach(st);
	rpc_async_cancel(st->parsing);
	http_stream_apply(st, STREAM_ON_CLOSE);
	sse_fini(&st->sse);
	free(st);
}

/*
 * Do the ended streams of S's requestor hold more than the requestor's share?
 */
static bool replays_too_much(const struct http_session *s)
{
	size_t own = s->session.requestor->http_ended_bytes;

	return own > HTTP_REPLAY_LEAST &&
	       (memory_is_over(&s->session.requestor->memory) ||
		(int64_t)own >
		    fair_share(HTTP_REPLAY_ALL,
			       (int64_t)(s->all->ended_bytes - own)));
}

/*
 * Free ended streams over the bounds, oldest first, except streams being read.
 */
static void trim_replayable(struct http_session *s)
{
	struct requestor *q = s->session.requestor;
	struct http_stream *st, *after;

	for (st = TAILQ_FIRST(&s->replayable);
	     st != NULL &&
	     (s->n_replayable > HTTP_REPLAY_MAX ||
	      (s->n_replayable > 1 && s->replayable_bytes > HTTP_REPLAY_BYTES));
	     st = after) {
		after = TAILQ_NEXT(st, link);
		if (st->conn == NULL)
			http_stream_free(st);
	}
	for (st = TAILQ_FIRST(&q->http_ended);
	     st != NULL && replays_too_much(s); st = after) {
		after = TAILQ_NEXT(st, queue);
		if (st->conn == NULL)
			http_stream_free(st);
	}
}

static void end_all(struct http_streams *streams)
{
	struct http_stream *st;

	while ((st = TAILQ_FIRST(streams)) != NULL) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): st is unlinked */
		if (st->conn != NULL && !http_stream_is_begun(st))
			http_conn_reply(st->conn, 404, NULL, NULL, 0);
		else
			http_stream_hang_up(st);
		http_stream_free(st);
	}
}

void http_streams_end(struct http_session *s)
{
	end_all(&s->open);
	end_all(&s->replayable);
	end_all(&s->push);
}

/* ---- events ---- */

/* Send the connection as many events as it takes now; on_drained() goes on. */
void http_stream_pump(struct http_stream *st)
{
	const struct sse_event *e;

	if (st->conn == NULL || !http_stream_is_begun(st))
		return;
	for (e = sse_after(&st->sse, st->sent);
	     e != NULL && http_conn_unsent(st->conn) < HTTP_UNSENT_LOW;
	     e = TAILQ_NEXT(e, link)) {
		http_conn_put_event(st->conn, &st->sse, e);
		st->sent = e->seq;
	}
	http_conn_due(st->conn, sse_bytes_after(&st->sse, st->sent));
	if (e == NULL && st->state == STREAM_REPLAYABLE)
		http_stream_hang_up(st);
}

static void on_gone(void *watcher)
{
	struct http_stream *st = watcher;
	struct http_session *s = st->owner;

	http_stream_detach(st);
	http_stream_apply(st, STREAM_ON_LOST);
	if (st->state == STREAM_CLOSED)
		http_stream_free(st);
	else if (st->state == STREAM_WAITING || st->state == STREAM_EVENTS)
		session_reader_lost(&s->session, st);
	else if (st->state == STREAM_PUSH && st->sse.last > 0)
		session_reader_lost(&s->session, NULL);
}

static void on_drained(void *watcher)
{
	http_stream_pump(watcher);
}

static const struct http_watch watch = {.gone = on_gone, .drained = on_drained};

/*
 * Send the priming event. Clients of revisions before 2025-11-25 get no priming
 * event, which they would take for a message; without an id from the start such
 * a client cannot resume before the first event either.
 */
void http_stream_prime(struct http_stream *st)
{
	struct buf out = {0};

	if (st->owner->session.terms.revision < MCP_2025_11_25)
		return;
	sse_put_priming(&out, &st->sse, HTTP_RETRY_MS);
	http_conn_put(st->conn, buf_data(&out), buf_len(&out));
	buf_fini(&out);
}

void http_stream_begin(struct http_stream *st)
{
	if (http_stream_is_begun(st))
		return;
	http_stream_apply(st, STREAM_ON_BEGIN);
	if (st->conn == NULL)
		return;
	http_conn_begin(st->conn);
	http_stream_prime(st);
}

static void await(struct http_sessions *all, int64_t now_ms)
{
	const struct http_stream *first = TAILQ_FIRST(&all->upgrading);
	int64_t ms;

	if (first == NULL || evtimer_pending(all->upgrade, NULL))
		return;
	ms = first->since_ms + HTTP_PLAIN_MS - now_ms;
	evtimer_add(all->upgrade, CLOCK_TIMEVAL(ms));
}

void http_stream_begin_soon(struct http_stream *st)
{
	struct http_sessions *all = st->owner->all;

	if (st->state != STREAM_WAITING || st->conn == NULL)
		return;
	st->since_ms = clock_mono_ms();
	http_stream_apply(st, STREAM_ON_SLOW);
	await(all, st->since_ms);
}

void http_streams_upgrade(evutil_socket_t fd, short what, void *sessions)
{
	struct http_sessions *all = sessions;
	int64_t now_ms = clock_mono_ms();
	struct http_stream *st;

	(void)fd, (void)what;
	while ((st = TAILQ_FIRST(&all->upgrading)) != NULL &&
	       st->since_ms + HTTP_PLAIN_MS <= now_ms)
		http_stream_begin(st);
	await(all, now_ms);
}

/* ---- the events of a stream ---- */

/* Count the bytes of ST's events, which were BYTES before. */
static void account(struct http_stream *st, size_t bytes)
{
	struct requestor *q = st->owner->session.requestor;

	q->http_live_bytes += st->sse.bytes - bytes;
	memory_change(&q->memory, bytes, st->sse.bytes);
}

void http_stream_send(struct http_stream *st, const char *text, size_t len,
		      enum sse_kind kind)
{
	size_t bytes = st->sse.bytes;

	http_stream_begin(st);
	sse_add(&st->sse, text, len, kind);
	account(st, bytes);
	http_stream_pump(st);
	if (st->owner->session.requestor->http_live_bytes > HTTP_OPEN_BYTES) {
		bytes = st->sse.bytes;
		sse_trim(&st->sse, HTTP_OPEN_TIGHT);
		account(st, bytes);
		http_stream_pump(st);
	}
}

/* Finish ST, whose last event was added; BYTES were kept before. */
static void finish(struct http_stream *st, size_t bytes)
{
	account(st, bytes);
	http_stream_apply(st, STREAM_ON_LAST);
	http_session_used(st->owner);
	http_stream_pump(st);
	trim_replayable(st->owner);
}

void http_stream_finish(struct http_stream *st, const char *text, size_t len)
{
	size_t bytes = st->sse.bytes;

	if (text != NULL)
		sse_add(&st->sse, text, len, SSE_LAST);
	finish(st, bytes);
}

void http_stream_finish_taken(struct http_stream *st, struct buf *text)
{
	size_t bytes = st->sse.bytes;

	sse_add_taken(&st->sse, text, SSE_LAST);
	finish(st, bytes);
}
