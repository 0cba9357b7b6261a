/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream.h - brings the messages of a request to the client: a plain
 * answer, or a stream of events which outlives the connection. A struct
 * http_stream is the STREAM of session.h.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_H

#include "supervisor/clients/http/http_conn.h"
#include "supervisor/clients/http/http_share.h"
#include "supervisor/clients/http/sse.h"
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
#define HTTP_RETRY_MS 500 /* time after which a client reconnects */

enum http_stream_state {
	STREAM_NONE, /* no state: the event is refused */
	STREAM_NEW,
	STREAM_WAITING,	  /* a plain answer is awaited */
	STREAM_DEFERRED,  /* the request waits for earlier requests */
	STREAM_PARSING,	  /* a thread reads the large request */
	STREAM_UPGRADING, /* as WAITING; events begin at HTTP_PLAIN_MS */
	STREAM_EVENTS,	  /* the answer is awaited, as the last event */
	/* has all its events, for a client which missed some */
	STREAM_REPLAYABLE,
	STREAM_PUSH, /* a GET stream: its events belong to no request */
	STREAM_CLOSED,
	STREAM_STATES
};

enum http_stream_event {
	STREAM_ON_REQUEST, /* the stream is made for a request */
	STREAM_ON_LISTEN,  /* the stream is made for a GET */
	STREAM_ON_DEFER,   /* the request has to wait */
	STREAM_ON_PARSE,   /* the request goes to a thread */
	STREAM_ON_DELIVER, /* the request goes to the session */
	STREAM_ON_SLOW,	   /* the answer may take long */
	STREAM_ON_BEGIN,   /* events are sent instead of a plain answer */
	STREAM_ON_LAST,	   /* the last event was added */
	STREAM_ON_LOST,	   /* the connection was lost */
	STREAM_ON_CLOSE,   /* no client can resume any more */
	STREAM_ON_EVENTS
};

struct http_stream {
	struct http_session *owner; /* borrowed */
	struct http_conn *conn;	    /* borrowed; NULL: no connection now */
	struct sse sse;
	uint64_t sent; /* the newest event given to CONN */
	enum http_stream_state state;
	struct rpc_async *parsing;     /* while STREAM_PARSING */
	int64_t since_ms;	       /* when STREAM_UPGRADING began */
	TAILQ_ENTRY(http_stream) link; /* in owner.open, .replayable, .push */
	/* in the queue of STATE; see http_stream_apply() */
	TAILQ_ENTRY(http_stream) queue;
};

/* Return the state after EV in STATE; STREAM_NONE: EV is refused. */
enum http_stream_state http_stream_next(enum http_stream_state state,
					enum http_stream_event ev);
/*
 * Apply EV to the state of ST. Only this function writes the state, and by it
 * keeps ST in its lists: a list of the session, and as STREAM_DEFERRED,
 * _UPGRADING or _REPLAYABLE a queue. A refused event is a bug and ends the
 * server.
 */
void http_stream_apply(struct http_stream *st, enum http_stream_event ev);
/* Is ST a stream of events, so that no plain answer can be sent? */
bool http_stream_is_begun(const struct http_stream *st);

/*
 * The functions given to a session over HTTP, whose argument is a struct
 * http_session; in http_session_ops.c.
 */
extern const struct session_ops http_session_ops;

/* Make the stream of a request which came on CONN. */
struct http_stream *http_stream_new(struct http_session *s,
				    struct http_conn *conn);
/* Free ST: no message follows, and no client can resume. */
void http_stream_free(struct http_stream *st);
/* Answer by a stream of events from now on. */
void http_stream_begin(struct http_stream *st);
/*
 * Answer by a stream of events soon. Most answers come sooner, as a plain
 * answer, which costs the client one read instead of two.
 */
void http_stream_begin_soon(struct http_stream *st);
void http_streams_upgrade(evutil_socket_t fd, short what, void *sessions);

/*
 * Open a stream on CONN for messages without a request. Each message goes to a
 * single stream, from now on to this stream. Earlier streams stay open, since a
 * client whose stream ends reconnects, again and again. Above
 * HTTP_PUSH_STREAMS_MAX the oldest without a reader ends, else the oldest.
 */
void http_stream_listen(struct http_session *s, struct http_conn *conn);

enum http_resume {
	HTTP_RESUMED,
	HTTP_RESUME_OVER,      /* the stream has ended, and no event is left */
	HTTP_RESUME_NONE,      /* no such event was ever sent */
	HTTP_RESUME_ELSEWHERE, /* another instance has, or had, the stream */
};
/*
 * Resume the stream of EVENT_ID on CONN, after that event. ID gets the parts of
 * EVENT_ID; the instance of the stream may have to be looked up.
 */
enum http_resume http_stream_resume(struct http_session *s,
				    struct http_conn *conn,
				    const char *event_id, struct sse_id *id);

void http_streams_end(struct http_session *s); /* ends all streams of S */

/* ---- for http_stream_get.c and http_session_ops.c ---- */

/* Make a stream of S which is in no list. */
struct http_stream *http_stream_make(struct http_session *s);
/* Attach CONN to ST, or detach it; hanging up ends the HTTP response. */
void http_stream_attach(struct http_stream *st, struct http_conn *conn);
void http_stream_detach(struct http_stream *st);
void http_stream_hang_up(struct http_stream *st);
void http_stream_prime(struct http_stream *st); /* sends the priming event */
/* Send as many events as the connection takes now. */
void http_stream_pump(struct http_stream *st);
/* Add an event; ST becomes a stream of events. */
void http_stream_send(struct http_stream *st, const char *text, size_t len,
		      enum sse_kind kind);
/*
 * Add TEXT as the last event of ST, which has begun (NULL: no event). Ended
 * streams over the bounds are freed.
 */
void http_stream_finish(struct http_stream *st, const char *text, size_t len);
/* Finish ST with a long TEXT, which is *taken*. */
void http_stream_finish_taken(struct http_stream *st, struct buf *text);

/*
 * Return the stream of S for the next message without a request: the latest
 * asked for which has a connection, else the latest asked for; or NULL.
 */
struct http_stream *http_stream_push_current(const struct http_session *s);

#endif
