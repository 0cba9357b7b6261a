/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream.c - the lists of a session's streams, the bounds on ended streams
 * kept for replay, and streams opened by a GET: for messages without a request, or
 * resumed. http_mcp.c and http_session*.c call the functions, which decide which
 * stream gets a message, and which streams are over. Over the bounds the oldest ended
 * streams are freed.
 */
#include "supervisor/clients/streamable_http/http_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/fair_share.h"

/* ---- life ---- */

static struct http_session *stream_session(const struct http_exchange *st)
{
	return st->of->session->arg;
}

static struct http_exchange_list *list_of(const struct http_exchange *st)
{
	struct http_session *s = stream_session(st);

	if (st->state == EXCHANGE_LAST)
		return &s->replayable;
	return st->state == EXCHANGE_PUSH ? &s->push : &s->open;
}

static size_t *counter_of(const struct http_exchange *st)
{
	struct http_session *s = stream_session(st);

	if (st->state == EXCHANGE_LAST)
		return &s->n_replayable;
	return st->state == EXCHANGE_PUSH ? &s->n_push : &s->n_open;
}

static void on_counted(struct http_exchange *st, int more)
{
	struct http_session *s = stream_session(st);
	size_t bytes = (size_t)more * st->sse.bytes;

	*counter_of(st) += (size_t)more;
	if (st->state == EXCHANGE_LAST) {
		s->replayable_bytes += bytes;
		s->session.requestor->http_ended_bytes += bytes;
		s->all->ended_bytes += bytes;
	}
	if (more < 0)
		TAILQ_REMOVE(list_of(st), st, link);
	else if (st->state == EXCHANGE_PUSH) /* the newest gets the messages */
		TAILQ_INSERT_HEAD(list_of(st), st, link);
	else
		TAILQ_INSERT_TAIL(list_of(st), st, link);
}

static void on_detached(struct http_exchange *st)
{
	http_session_used(stream_session(st));
}

static void on_closed(struct http_exchange *st)
{
	free(st);
}

static const struct http_exchange_ops ops = {
    .counted = on_counted, .detached = on_detached, .closed = on_closed};

struct http_exchange *http_stream_make(struct http_session *s)
{
	struct http_exchange *st = xcalloc(1, sizeof(*st));

	http_exchange_init(st, &s->conversation, &ops, ++s->last_stream);
	if (s->instance[0] != '\0')
		st->sse.instance = s->instance;
	return st;
}

struct http_exchange *http_stream_new(struct http_session *s,
				      struct http_conn *conn)
{
	struct http_exchange *st = http_stream_make(s);

	http_exchange_apply(st, EXCHANGE_ON_REQUEST);
	http_exchange_attach(st, conn);
	return st;
}

static void end_all(struct http_exchange_list *streams)
{
	struct http_exchange *st;

	while ((st = TAILQ_FIRST(streams)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): st is unlinked */
		http_exchange_end(st, 404, NULL);
}

void http_streams_end(struct http_session *s)
{
	end_all(&s->open);
	end_all(&s->replayable);
	end_all(&s->push);
}

/* ---- ended streams ---- */

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
	struct http_exchange *st, *after;

	for (st = TAILQ_FIRST(&s->replayable);
	     st != NULL &&
	     (s->n_replayable > HTTP_REPLAY_MAX ||
	      (s->n_replayable > 1 && s->replayable_bytes > HTTP_REPLAY_BYTES));
	     st = after) {
		after = TAILQ_NEXT(st, link);
		if (st->conn == NULL)
			http_exchange_close(st);
	}
	for (st = TAILQ_FIRST(&q->http_ended);
	     st != NULL && replays_too_much(s); st = after) {
		after = TAILQ_NEXT(st, queue);
		if (st->conn == NULL)
			http_exchange_close(st);
	}
}

void http_stream_answered(struct http_session *s)
{
	http_session_used(s);
	trim_replayable(s);
}

/* ---- streams without a request ---- */

struct http_exchange *http_stream_push_current(const struct http_session *s)
{
	struct http_exchange *st;

	TAILQ_FOREACH(st, &s->push, link)
		if (st->conn != NULL)
			return st;
	return TAILQ_FIRST(&s->push);
}

static struct http_exchange *push_new(struct http_session *s)
{
	struct http_exchange *st, *oldest;

	if (s->n_push >= HTTP_PUSH_STREAMS_MAX) {
		/* the oldest without a reader ends, else the oldest */
		oldest = TAILQ_LAST(&s->push, http_exchange_list);
		TAILQ_FOREACH_REVERSE(st, &s->push, http_exchange_list, link)
			if (st->conn == NULL)
				break;
		st = st != NULL ? st : oldest;
		http_exchange_end(st, 0, NULL); /* has begun */
	}
	st = http_stream_make(s);
	st->sse.push = true;
	http_exchange_apply(st, EXCHANGE_ON_LISTEN);
	return st;
}

void http_stream_listen(struct http_session *s, struct http_conn *conn)
{
	struct http_exchange *st = push_new(s);

	http_exchange_attach(st, conn);
	http_conn_begin(conn);
	http_exchange_prime(st);
	session_push_opened(&s->session);
}

static void make_current(struct http_exchange *st)
{
	struct http_session *s = st->of->session->arg;

	TAILQ_REMOVE(&s->push, st, link);
	TAILQ_INSERT_HEAD(&s->push, st, link);
}

/*
 * Detach ST from its connection, since another connection resumes ST. The old
 * connection, which may be alive, gets a new stream without events.
 */
static void part_from(struct http_exchange *st)
{
	struct http_conn *before = st->conn;
	struct http_exchange *other;

	make_current(st); /* so that push_new() does not end ST */
	if (before == NULL)
		return;
	other = push_new(st->of->session->arg);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): ST does not end */
	http_exchange_detach(st);
	http_exchange_attach(other, before);
	make_current(st);
}

/* ---- resumed streams ---- */

static struct http_exchange *find_resumed(struct http_session *s,
					  const struct sse_id *id)
{
	struct http_exchange *st;

	if (id->push) {
		TAILQ_FOREACH(st, &s->push, link)
			if (st->sse.number == id->number)
				return st;
		return NULL;
	}
	TAILQ_FOREACH(st, &s->open, link)
		if (st->sse.number == id->number && http_exchange_is_begun(st))
			return st;
	TAILQ_FOREACH(st, &s->replayable, link)
		if (st->sse.number == id->number)
			return st;
	return NULL;
}

enum http_resume http_stream_resume(struct http_session *s,
				    struct http_conn *conn,
				    const char *event_id, struct sse_id *id)
{
	struct http_exchange *st;

	if (!sse_read_id(event_id, id))
		return HTTP_RESUME_NONE;
	if (id->instance[0] != '\0' && strcmp(id->instance, s->instance) != 0)
		return HTTP_RESUME_ELSEWHERE;
	if (id->number > s->last_stream)
		return HTTP_RESUME_NONE;
	if (id->push && id->number <= s->lost) {
		http_stream_listen(s, conn);
		return HTTP_RESUMED;
	}
	st = find_resumed(s, id);
	if (st == NULL)
		return HTTP_RESUME_OVER;
	if (id->seq > st->sse.last)
		return HTTP_RESUME_NONE;
	if (st->state == EXCHANGE_LAST && id->seq == st->sse.last)
		return HTTP_RESUME_OVER;
	if (st->state == EXCHANGE_PUSH)
		part_from(st);
	else
		http_exchange_hang_up(st);
	st->sent = id->seq;
	http_exchange_attach(st, conn);
	http_conn_begin(conn);
	http_exchange_pump(st);
	if (st->state == EXCHANGE_PUSH)
		session_push_opened(&s->session);
	return HTTP_RESUMED;
}
