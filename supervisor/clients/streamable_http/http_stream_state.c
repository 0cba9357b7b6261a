/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream_state.c - the states of a stream, the events between states, and
 * the lists for each state. http_stream.c, http_stream_get.c and http_mcp.c
 * call it; no function fails.
 */
#include "supervisor/clients/streamable_http/http_stream.h"

#include <assert.h>

/* An empty cell (STREAM_NONE, 0) refuses the event. */
static const enum http_stream_state next[STREAM_STATES][STREAM_ON_EVENTS] = {
    [STREAM_NEW] = {[STREAM_ON_REQUEST] = STREAM_WAITING,
		    [STREAM_ON_LISTEN] = STREAM_PUSH},
    [STREAM_WAITING] = {[STREAM_ON_DEFER] = STREAM_DEFERRED,
			[STREAM_ON_PARSE] = STREAM_PARSING,
			[STREAM_ON_SLOW] = STREAM_UPGRADING,
			[STREAM_ON_BEGIN] = STREAM_EVENTS,
			[STREAM_ON_LOST] = STREAM_WAITING,
			[STREAM_ON_CLOSE] = STREAM_CLOSED},
    [STREAM_DEFERRED] = {[STREAM_ON_DELIVER] = STREAM_WAITING,
			 [STREAM_ON_LOST] = STREAM_CLOSED,
			 [STREAM_ON_CLOSE] = STREAM_CLOSED},
    [STREAM_PARSING] = {[STREAM_ON_DELIVER] = STREAM_WAITING,
			[STREAM_ON_LOST] = STREAM_CLOSED,
			[STREAM_ON_CLOSE] = STREAM_CLOSED},
    /* a client without an event id cannot resume: begin no stream */
    [STREAM_UPGRADING] = {[STREAM_ON_BEGIN] = STREAM_EVENTS,
			  [STREAM_ON_LOST] = STREAM_WAITING,
			  [STREAM_ON_CLOSE] = STREAM_CLOSED},
    [STREAM_EVENTS] = {[STREAM_ON_LAST] = STREAM_REPLAYABLE,
		       [STREAM_ON_LOST] = STREAM_EVENTS,
		       [STREAM_ON_CLOSE] = STREAM_CLOSED},
    [STREAM_REPLAYABLE] = {[STREAM_ON_LOST] = STREAM_REPLAYABLE,
			   [STREAM_ON_CLOSE] = STREAM_CLOSED},
    [STREAM_PUSH] =
	{[STREAM_ON_LOST] = STREAM_PUSH, [STREAM_ON_CLOSE] = STREAM_CLOSED},
    [STREAM_CLOSED] = {[STREAM_ON_CLOSE] = STREAM_CLOSED},
};

enum http_stream_state http_stream_next(enum http_stream_state state,
					enum http_stream_event ev)
{
	return next[state][ev];
}

bool http_stream_is_begun(const struct http_stream *st)
{
	return st->state == STREAM_EVENTS || st->state == STREAM_REPLAYABLE ||
	       st->state == STREAM_PUSH;
}

static struct http_streams *list_of(const struct http_stream *st)
{
	struct http_session *s = st->owner;

	if (st->state == STREAM_NEW || st->state == STREAM_CLOSED)
		return NULL;
	if (st->state == STREAM_REPLAYABLE)
		return &s->replayable;
	return st->state == STREAM_PUSH ? &s->push : &s->open;
}

static struct http_streams *queue_of(const struct http_stream *st)
{
	struct http_session *s = st->owner;

	if (st->state == STREAM_DEFERRED)
		return &s->deferred;
	if (st->state == STREAM_UPGRADING)
		return &s->all->upgrading;
	return st->state == STREAM_REPLAYABLE
		   ? &s->session.requestor->http_ended
		   : NULL;
}

/* Add MORE (1 or -1) times ST to the counters of ST's state. */
static void count(const struct http_stream *st, int more)
{
	struct http_session *s = st->owner;
	struct requestor *q = s->session.requestor;
	size_t n = (size_t)more, bytes = n * st->sse.bytes;

	if (more > 0)
		memory_add(&q->memory, st->sse.bytes);
	else
		memory_give(&q->memory, st->sse.bytes);
	if (st->state == STREAM_REPLAYABLE) {
		s->n_replayable += n;
		s->replayable_bytes += bytes;
		q->http_ended_bytes += bytes;
		s->all->ended_bytes += bytes;
		return;
	}
	q->http_live_bytes += bytes;
	if (st->state == STREAM_PUSH) {
		s->n_push += n;
	} else {
		s->n_open += n;
		q->http_open_streams += n;
	}
}

static void leave(struct http_stream *st)
{
	struct http_streams *list = list_of(st), *queue = queue_of(st);
	struct http_session *s = st->owner;

	if (list == NULL)
		return;
	count(st, -1);
	TAILQ_REMOVE(list, st, link);
	if (queue != NULL)
		TAILQ_REMOVE(queue, st, queue);
	if (queue == &s->deferred && TAILQ_EMPTY(queue))
		TAILQ_REMOVE(&s->all->deferring, s, deferring);
}

static void enter(struct http_stream *st)
{
	struct http_streams *list = list_of(st), *queue = queue_of(st);
	struct http_session *s = st->owner;

	if (list == NULL)
		return;
	count(st, 1);
	if (st->state == STREAM_PUSH) /* the newest gets the messages */
		TAILQ_INSERT_HEAD(list, st, link);
	else
		TAILQ_INSERT_TAIL(list, st, link);
	if (queue == &s->deferred && TAILQ_EMPTY(queue))
		TAILQ_INSERT_TAIL(&s->all->deferring, s, deferring);
	if (queue != NULL)
		TAILQ_INSERT_TAIL(queue, st, queue);
}

void http_stream_apply(struct http_stream *st, enum http_stream_event ev)
{
	enum http_stream_state to = http_stream_next(st->state, ev);

	assert(to != STREAM_NONE);
	if (to == st->state)
		return;
	leave(st);
	st->state = to;
	enter(st);
}
