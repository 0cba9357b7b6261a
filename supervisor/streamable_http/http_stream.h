/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream.h - the way of one request's messages to its client: a plain
 * answer, or a stream of events that outlives its connection. A stream is
 * the stream that session.h speaks of.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_H

#include "supervisor/http/http_conn.h"
#include "supervisor/http/http_share.h"
#include "supervisor/http/sse.h"
#include "supervisor/streamable_http/http_session.h"

#define HTTP_REPLAY_MAX 32 /* ended streams that a session keeps for replay */
#define HTTP_REPLAY_BYTES (4u << 20) /* and their bytes, but for the newest */
#define HTTP_REPLAY_ALL (64u << 20)  /* of all: each has its share, or… */
#define HTTP_REPLAY_LEAST (4u << 20) /* …so many, if that is less */
/* streams by GET that a session has at a time */
#define HTTP_PUSH_STREAMS_MAX 8
#define HTTP_RETRY_MS 500 /* when a client is told to come back */

enum http_stream_state {
	STREAM_NONE, /* no state: the event is refused */
	STREAM_NEW,
	STREAM_WAITING,	   /* its answer is to come, by itself */
	STREAM_DEFERRED,   /* its request is not begun: others come first */
	STREAM_PARSING,	   /* its request, a large one, is read on a thread */
	STREAM_UPGRADING,  /* it waits, and is begun when HTTP_PLAIN_MS old */
	STREAM_EVENTS,	   /* its answer is to come, as the last event */
	STREAM_REPLAYABLE, /* it has all its events, for who missed some */
	STREAM_PUSH,	   /* a GET's: its events belong to no request */
	STREAM_CLOSED,
	STREAM_STATES
};

enum http_stream_event {
	STREAM_ON_REQUEST, /* it is made for a request… */
	STREAM_ON_LISTEN,  /* …or for a GET */
	STREAM_ON_DEFER,   /* its request waits… */
	STREAM_ON_PARSE,   /* …or is given to a thread… */
	STREAM_ON_DELIVER, /* …and now to the session */
	STREAM_ON_SLOW,	   /* its answer may take long */
	STREAM_ON_BEGIN,   /* it becomes a stream of events */
	STREAM_ON_LAST,	   /* it has its last event */
	STREAM_ON_LOST,	   /* nobody listens any more */
	STREAM_ON_CLOSE,   /* nobody is to listen again */
	STREAM_ON_EVENTS
};

struct http_stream {
	struct http_session *owner; /* borrowed */
	struct http_conn *conn;	    /* borrowed; NULL: nobody listens now */
	struct sse sse;
	uint64_t sent; /* the newest event that CONN was given */
	enum http_stream_state state;
	struct rpc_async *parsing;	/* while STREAM_PARSING */
	int64_t since_ms;		/* when it became STREAM_UPGRADING */
	TAILQ_ENTRY(http_stream) link;	/* in owner.open, .replayable, .push */
	TAILQ_ENTRY(http_stream) queue; /* see http_stream_apply() */
};

/* Where EV leads from STATE; STREAM_NONE: nowhere. */
enum http_stream_state http_stream_next(enum http_stream_state state,
					enum http_stream_event ev);
/*
 * The one writer of ST's state, which says what lists ST is in: one of its
 * session's, and as STREAM_DEFERRED, _UPGRADING or _REPLAYABLE a queue. An event
 * that the state refuses is a fault of ours, and ends the server.
 */
void http_stream_apply(struct http_stream *st, enum http_stream_event ev);
/* Is it a stream of events, so that no plain answer is due? */
bool http_stream_is_begun(const struct http_stream *st);

/* What a session over HTTP is given; its argument is an http_session. */
extern const struct session_ops http_session_ops; /* http_session_ops.c */

/* A request came on CONN: its stream. */
struct http_stream *http_stream_new(struct http_session *s,
				    struct http_conn *conn);
/* Nothing more is said by it, nor can it be taken up again. */
void http_stream_free(struct http_stream *st);
/* Answer by a stream of events from now on. */
void http_stream_begin(struct http_stream *st);
/*
 * The same, soon: most answers come before, and cost their client one read
 * instead of two.
 */
void http_stream_begin_soon(struct http_stream *st);
void http_streams_upgrade(evutil_socket_t fd, short what, void *sessions);

/*
 * CONN listens to what belongs to no request. Each message goes to one stream
 * alone, which is from now on this one; those that were opened before stay
 * open, for a client whose stream ends comes back for it, and that for ever.
 * Of too many one that nobody reads ends, else the oldest, and is over.
 */
void http_stream_listen(struct http_session *s, struct http_conn *conn);

enum http_resume {
	HTTP_RESUMED,
	HTTP_RESUME_OVER, /* it has ended, and nothing that is kept is left */
	HTTP_RESUME_NONE, /* there never was such an event */
};
/* CONN goes on after the event EVENT_ID, of that stream alone. */
enum http_resume http_stream_resume(struct http_session *s,
				    struct http_conn *conn,
				    const char *event_id);

void http_streams_end(struct http_session *s); /* all of them */

/* ---- for http_stream_get.c and http_session_ops.c ---- */

/* A new one of S's, in none of its lists. */
struct http_stream *http_stream_make(struct http_session *s);
/* CONN reads ST, or no more; hung up, it gets a whole response here. */
void http_stream_attach(struct http_stream *st, struct http_conn *conn);
void http_stream_detach(struct http_stream *st);
void http_stream_hang_up(struct http_stream *st);
void http_stream_prime(struct http_stream *st); /* its first event */
/* As much as the connection takes for now. */
void http_stream_pump(struct http_stream *st);
/* One more event; a plain answer is none any more. */
void http_stream_send(struct http_stream *st, const char *text, size_t len,
		      enum sse_kind kind);
/* The last event of ST, begun; NULL: it ends without one. Others may go. */
void http_stream_finish(struct http_stream *st, const char *text, size_t len);

/*
 * Of S's streams of no request the one that has what is said next: that
 * somebody reads, and was asked for last, or would be; or NULL.
 */
struct http_stream *http_stream_push_current(const struct http_session *s);

#endif
