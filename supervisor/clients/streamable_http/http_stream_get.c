/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream_get.c - streams opened by a GET: for messages without a request,
 * or resumed. http_mcp.c calls these functions, which decide which stream gets
 * a message, and which streams are over.
 */
#include "supervisor/clients/streamable_http/http_stream.h"

#include <stdlib.h>
#include <string.h>

/* ---- streams without a request ---- */

struct http_stream *http_stream_push_current(const struct http_session *s)
{
	struct http_stream *st;

	TAILQ_FOREACH(st, &s->push, link)
		if (st->conn != NULL)
			return st;
	return TAILQ_FIRST(&s->push);
}

/*
 * With HTTP_PUSH_STREAMS_MAX streams, end the oldest without a reader, else the
 * oldest.
 */
static void leave_room(struct http_session *s)
{
	struct http_stream *st, *oldest;

	if (s->n_push < HTTP_PUSH_STREAMS_MAX)
		return;
	oldest = TAILQ_LAST(&s->push, http_streams);
	TAILQ_FOREACH_REVERSE(st, &s->push, http_streams, link)
		if (st->conn == NULL)
			break;
	st = st != NULL ? st : oldest;
	http_stream_hang_up(st);
	http_stream_free(st);
}

static struct http_stream *push_new(struct http_session *s)
{
	struct http_stream *st;

	leave_room(s);
	st = http_stream_make(s);
	st->sse.push = true;
	http_stream_apply(st, STREAM_ON_LISTEN);
	return st;
}

void http_stream_listen(struct http_session *s, struct http_conn *conn)
{
	struct http_stream *st = push_new(s);

	http_stream_attach(st, conn);
	http_conn_begin(conn);
	http_stream_prime(st);
	session_push_opened(&s->session);
}

static void make_current(struct http_stream *st)
{
	TAILQ_REMOVE(&st->owner->push, st, link);
	TAILQ_INSERT_HEAD(&st->owner->push, st, link);
}

/*
 * Detach ST from its connection, since another connection resumes ST. The old
 * connection, which may be alive, gets a new stream without events.
 */
static void part_from(struct http_stream *st)
{
	struct http_conn *before = st->conn;
	struct http_stream *other;

	make_current(st); /* so that push_new() does not end ST */
	if (before == NULL)
		return;
	other = push_new(st->owner);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): ST does not end */
	http_stream_detach(st);
	http_stream_attach(other, before);
	make_current(st);
}

/* ---- resumed streams ---- */

static struct http_stream *find(struct http_session *s, const struct sse_id *id)
{
	struct http_stream *st;

	if (id->push) {
		TAILQ_FOREACH(st, &s->push, link)
			if (st->sse.number == id->number)
				return st;
		return NULL;
	}
	TAILQ_FOREACH(st, &s->open, link)
		if (st->sse.number == id->number && http_stream_is_begun(st))
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
	struct http_stream *st;

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
	st = find(s, id);
	if (st == NULL)
		return HTTP_RESUME_OVER;
	if (id->seq > st->sse.last)
		return HTTP_RESUME_NONE;
	if (st->state == STREAM_REPLAYABLE && id->seq == st->sse.last)
		return HTTP_RESUME_OVER;
	if (st->state == STREAM_PUSH)
		part_from(st);
	else
		http_stream_hang_up(st);
	st->sent = id->seq;
	http_stream_attach(st, conn);
	http_conn_begin(conn);
	http_stream_pump(st);
	if (st->state == STREAM_PUSH)
		session_push_opened(&s->session);
	return HTTP_RESUMED;
}
