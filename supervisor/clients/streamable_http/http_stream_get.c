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

struct http_exchange *http_stream_push_current(const struct http_session *s)
{
	struct http_exchange *st;

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
	struct http_exchange *st, *oldest;

	if (s->n_push < HTTP_PUSH_STREAMS_MAX)
		return;
	oldest = TAILQ_LAST(&s->push, http_exchange_list);
	TAILQ_FOREACH_REVERSE(st, &s->push, http_exchange_list, link)
		if (st->conn == NULL)
			break;
	st = st != NULL ? st : oldest;
	http_exchange_end(st, 0, NULL); /* has begun */
}

static struct http_exchange *push_new(struct http_session *s)
{
	struct http_exchange *st;

	leave_room(s);
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
