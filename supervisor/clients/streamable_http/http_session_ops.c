/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session_ops.c - the transport functions of session.h, over HTTP:
 * http_mcp.c gives them to each session. Messages without a reader are kept for
 * a client which comes back.
 */
#include "supervisor/clients/streamable_http/http_stream.h"

#include <stdio.h>

#include "proto/json/json.h"
#include "supervisor/clients/streamable_http/http_session_store.h"
#include "supervisor/clients/streamable_http/http_store_wait.h"

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	struct http_session *s = arg;
	struct http_exchange *st =
	    stream != NULL ? stream : http_stream_push_current(s);
	struct json_span id;

	if (st == NULL) /* no client ever listened */
		return;
	/* a request of the server has an id */
	http_exchange_send(st, text, len,
			   json_find(&id, text, len, "id") != 0 ? SSE_PASSING
								: SSE_ASKED);
}

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	struct http_session *s = arg;
	struct http_exchange *st = stream;
	char line[HTTP_SESSION_ID_SIZE + 32];

	/* initialize has succeeded: the answer gives the client the session's id */
	if (text != NULL && st->conn != NULL && !http_exchange_is_begun(st) &&
	    !s->told_id && s->session.greeted) {
		snprintf(line, sizeof(line), "Mcp-Session-Id: %s\r\n", s->id);
		http_conn_fields(st->conn, line);
		s->told_id = true;
		http_store_wait_created(s, http_exchange_close(st), text, len);
	} else {
		http_exchange_answer(arg, st, text, len, hint);
	}
	http_stream_answered(s);
}

static void on_answer_taken(void *arg, void *stream, struct buf *answer,
			    struct reply_hint hint)
{
	if (!http_exchange_is_begun(stream)) {
		on_answer(arg, stream, buf_data(answer), buf_len(answer), hint);
		return;
	}
	http_exchange_answer_taken(arg, stream, answer, hint);
	http_stream_answered(arg);
}

static bool has_push_stream(void *arg)
{
	const struct http_exchange *st = http_stream_push_current(arg);

	return st != NULL && st->conn != NULL;
}

static bool is_backlogged(void *arg)
{
	const struct http_session *s = arg;

	return http_share_is_backlogged(&s->all->exchanges.share,
					s->session.requestor);
}

/*
 * Hang up on the client of STREAM, which can resume. A client without event ids
 * cannot resume, so the stream stays open.
 */
static void on_part(void *arg, void *stream)
{
	struct http_session *s = arg;

	if (s->session.terms.revision < MCP_2025_11_25)
		return;
	http_exchange_begin(stream);
	http_exchange_hang_up(stream);
}

/* Begin deferred requests: the session may have room to read now. */
static void on_read_done(void *arg)
{
	struct http_session *s = arg;

	http_conversation_read_on(&s->conversation);
}

static void session_key(void *arg, char *out)
{
	const struct http_session *s = arg;

	_Static_assert(SESSION_KEY_SIZE == HTTP_SESSION_KEY_SIZE, "one key");
	http_session_store_key(out, s->id);
}

const struct session_ops http_session_ops = {
    .send = on_send,
    .answer = on_answer,
    .answer_taken = on_answer_taken,
    .has_push_stream = has_push_stream,
    .detach = on_part,
    .has_reader = http_exchange_has_reader,
    .backlogged = is_backlogged,
    .read_done = on_read_done,
    .key = session_key,
    .changed = http_session_store_changed,
};
