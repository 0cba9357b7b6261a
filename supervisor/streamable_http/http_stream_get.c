/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream_get.c - streams that a GET opens: of no request, or taken up
 * again. http_mcp.c asks for them; which of the first has a message, and what
 * is over, is decided here.
 */
#include "supervisor/streamable_http/http_stream_private.h"

#include <stdlib.h>

/* ---- what belongs to no request ---- */

/* The one that somebody hears and was asked for last, or would be; or NULL. */
struct http_stream *http_stream_voice(const struct http_session *s)
{
	struct http_stream *st;

	TAILQ_FOREACH(st, &s->unrelated, link)
		if (st->conn != NULL)
			return st;
	return TAILQ_FIRST(&s->unrelated);
}

void http_stream_unrelated_free(struct http_stream *st)
{
	size_t bytes = st->sse.bytes;

	http_stream_hang_up(st);
	sse_fini(&st->sse);
	http_stream_weigh(st, bytes);
	TAILQ_REMOVE(&st->owner->unrelated, st, link);
	st->owner->n_unrelated--;
	free(st);
}

/* Of as many as there may be the oldest that nobody hears ends, or the oldest. */
static void leave_room(struct http_session *s)
{
	struct http_stream *st, *oldest;

	if (s->n_unrelated < HTTP_UNRELATED_MAX)
		return;
	oldest = TAILQ_LAST(&s->unrelated, http_unrelated);
	TAILQ_FOREACH_REVERSE(st, &s->unrelated, http_unrelated, link)
		if (st->conn == NULL)
			break;
	http_stream_unrelated_free(st != NULL ? st : oldest);
}

static struct http_stream *unrelated_new(struct http_session *s)
{
	struct http_stream *st;

	leave_room(s);
	st = http_stream_make(s);
	st->unrelated = st->sse.unrelated = st->begun = true;
	TAILQ_INSERT_HEAD(&s->unrelated, st, link);
	s->n_unrelated++;
	return st;
}

void http_stream_listen(struct http_session *s, struct http_conn *conn)
{
	struct http_stream *st = unrelated_new(s);

	http_stream_attach(st, conn);
	http_conn_begin(conn);
	http_stream_prime(st);
	session_reached(&s->session);
}

static void raise_voice(struct http_stream *st)
{
	TAILQ_REMOVE(&st->owner->unrelated, st, link);
	TAILQ_INSERT_HEAD(&st->owner->unrelated, st, link);
}

/*
 * ST is taken up by another connection. The one that it had, if it is not dead,
 * stays open as a stream of its own, at which nothing comes any more.
 */
static void part_from(struct http_stream *st)
{
	struct http_conn *before = st->conn;
	struct http_stream *other;

	raise_voice(st); /* so that it is not itself the one that ends */
	if (before == NULL)
		return;
	other = unrelated_new(st->owner);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the newest does not end */
	http_stream_detach(st);
	http_stream_attach(other, before);
	raise_voice(st);
}

/* ---- taken up again ---- */

static struct http_stream *find(struct http_session *s, const struct sse_id *id)
{
	struct http_stream *st;

	if (id->unrelated) {
		TAILQ_FOREACH(st, &s->unrelated, link)
			if (st->sse.number == id->number)
				return st;
		return NULL;
	}
	LIST_FOREACH(st, &s->live, live)
		if (st->sse.number == id->number && st->begun)
			return st;
	TAILQ_FOREACH(st, &s->kept, kept)
		if (st->sse.number == id->number)
			return st;
	return NULL;
}

enum http_resume http_stream_resume(struct http_session *s,
				    struct http_conn *conn,
				    const char *event_id)
{
	struct http_stream *st;
	struct sse_id id;

	if (!sse_read_id(event_id, &id) || id.number > s->last_stream)
		return HTTP_RESUME_NONE;
	if (id.unrelated && id.number <= s->lost) {
		http_stream_listen(s, conn);
		return HTTP_RESUMED;
	}
	st = find(s, &id);
	if (st == NULL)
		return HTTP_RESUME_OVER;
	if (id.seq > st->sse.last)
		return HTTP_RESUME_NONE;
	if (st->ended && id.seq == st->sse.last)
		return HTTP_RESUME_OVER;
	if (st->unrelated)
		part_from(st);
	else
		http_stream_hang_up(st);
	st->sent = id.seq;
	http_stream_attach(st, conn);
	http_conn_begin(conn);
	http_stream_pump(st);
	if (st->unrelated)
		session_reached(&s->session);
	return HTTP_RESUMED;
}
