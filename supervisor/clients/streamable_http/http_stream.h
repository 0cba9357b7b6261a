/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream.h - streams of sessions: exchanges which outlive their connection,
 * since a client may come back and resume an exchange by the id of an event.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_H

#include "supervisor/clients/http/http_exchange.h"
#include "supervisor/clients/streamable_http/http_session.h"

#define HTTP_REPLAY_MAX 32 /* ended streams kept by a session */
/* bytes of those streams, without the newest */
#define HTTP_REPLAY_BYTES (4u << 20)
/* bytes of ended streams, of all requestors */
#define HTTP_REPLAY_ALL (64u << 20)
/* least share of HTTP_REPLAY_ALL for a requestor */
#define HTTP_REPLAY_LEAST (4u << 20)
/* GET streams of a session at a time */
#define HTTP_PUSH_STREAMS_MAX 8

/*
 * The functions given to a session over HTTP, whose argument is a struct
 * http_session; in http_session_ops.c.
 */
extern const struct session_ops http_session_ops;

/* Make the stream of a request which came on CONN. */
struct http_exchange *http_stream_new(struct http_session *s,
				      struct http_conn *conn);
/* Make a stream of S which is in no list. */
struct http_exchange *http_stream_make(struct http_session *s);
/* A stream of S has its answer: free ended streams over the bounds. */
void http_stream_answered(struct http_session *s);
void http_streams_end(struct http_session *s); /* ends all streams of S */

/*
 * Open a stream on CONN for messages without a request. Each message goes to a
 * single stream, from now on to this stream. Earlier streams stay open, since a
 * client whose stream ends reconnects, again and again. Above
 * HTTP_PUSH_STREAMS_MAX the oldest without a reader ends, else the oldest.
 */
void http_stream_listen(struct http_session *s, struct http_conn *conn);
/*
 * Return the stream of S for the next message without a request: the latest
 * asked for which has a connection, else the latest asked for; or NULL.
 */
struct http_exchange *http_stream_push_current(const struct http_session *s);

enum http_resume {
	HTTP_RESUMED,
	HTTP_RESUME_OVER,      /* the stream has ended, and no event is left */
	HTTP_RESUME_NONE,      /* no such event was ever sent */
	HTTP_RESUME_ELSEWHERE, /* the stream is, or was, of another instance */
};
/*
 * Resume the stream of EVENT_ID on CONN, after that event. ID gets the parts of
 * EVENT_ID; the instance of the stream may have to be looked up.
 */
enum http_resume http_stream_resume(struct http_session *s,
				    struct http_conn *conn,
				    const char *event_id, struct sse_id *id);

#endif
