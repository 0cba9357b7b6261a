/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream.c - the lists of a session's streams, and the bounds on ended
 * streams kept for replay. http_mcp.c and http_session*.c call it. Over the
 * bounds the oldest ended streams are freed.
 */
#include "supervisor/clients/streamable_http/http_stream.h"

#include <stdlib.h>

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
