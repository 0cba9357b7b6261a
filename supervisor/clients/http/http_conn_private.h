/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn_private.h - the parts of a connection that http_conn.c,
 * http_conn_reply.c and http_pool.c share.
 */
#ifndef SUPERVISOR_HTTP_HTTP_CONN_PRIVATE_H
#define SUPERVISOR_HTTP_HTTP_CONN_PRIVATE_H

#include "base/buf.h"
#include "supervisor/clients/http/http_conn.h"

enum http_conn_state {
	READING,   /* a request, or waiting for its first byte */
	ANSWERING, /* on_request() was called, or waits for its turn */
	STREAMING, /* the answer is sent in parts, as they come */
	ANSWERED,  /* the whole answer is in UNSENT */
	/* the whole answer was sent; further input is dropped */
	LINGERING,
};

#define HTTP_PEER_BYTES 16

struct http_conn {
	struct http_pool *pool;
	TAILQ_ENTRY(http_conn) link; /* in pool.all */
	struct http_conns *rank;     /* pool.anonymous, pool.idle, or NULL */
	TAILQ_ENTRY(http_conn) rank_link; /* in *rank */
	struct http_peer *peer; /* while C is in pool.anonymous; else NULL */
	TAILQ_ENTRY(http_conn) peer_link; /* in peer.conns */
	/* the client's address, or the network part of it */
	unsigned char from[HTTP_PEER_BYTES];
	int fd;
	enum http_conn_state state;
	struct http_parse *parse;
	struct buf in; /* bytes after the request that is being served */
	struct buf unsent;
	struct event *readable, *writable;
	bool begun;	/* a byte of a request has come */
	bool head_told; /* on_head() has been called for this request */
	bool last;	/* close C after this answer */
	bool ended;	/* the client has closed its sending side */
	/* the method is HEAD: send the answer without its body */
	bool headless;
	bool old; /* HTTP/1.0: send no chunks */
	/* STREAMING sends a body of known length: no events */
	bool plain;
	size_t held;	/* bytes of requests, as counted in usage.bodies */
	size_t due;	/* bytes of the stream that are not put yet */
	size_t counted; /* bytes, as counted in usage.unread */
	/*
	 * The next action of C: to tell a whole request, to read more of a
	 * body, or to parse bytes of the next request.
	 */
	struct fair_queue_turn turn;
	/* borrowed: the flow of TURN */
	struct fair_queue_flow *lane;
	bool my_turn;
	bool reads;		  /* the turn is for reading more of a body */
	struct http_usage *usage; /* borrowed; pool.nobody at first */
	/* gets the body of this request, or NULL */
	const struct http_sink *sink;
	void *sink_arg;
	int64_t sunk;	     /* bytes given to the sink */
	int64_t told_ms;     /* when the head was complete */
	int64_t deadline_ms; /* 0: no limit */
	int64_t since_ms;    /* when STATE began */
	int64_t moved_ms;    /* when unsent bytes were last sent */
	int64_t put_ms;	     /* when bytes were last put */
	char *fields;
	const struct http_watch *watch;
	void *watcher;
	void *user;
};

/*
 * Put C into the list of its rank after its state or user changed. GONE: C is
 * about to be freed, and leaves its list.
 */
void http_pool_rank(struct http_conn *c, bool gone);
struct http_conn *http_conn_new(struct http_pool *p, int fd);
void http_conn_free(struct http_conn *c); /* C may be in any state */
void http_conn_enter(struct http_conn *c, enum http_conn_state state,
		     int64_t limit_ms); /* 0: STATE has no time limit */
/* Count the unread bytes of C anew. */
void http_conn_weigh(struct http_conn *c);
/* Add TEXT to the unsent bytes as it is. */
void http_conn_put_raw(struct http_conn *c, const char *text);
/*
 * Write unsent bytes. Returns 0 when all are written, -EAGAIN when some remain,
 * or -errno when the connection is broken.
 */
int http_conn_write(struct http_conn *c);
/*
 * Refuse the request as http_conn_refuse() does, and close C after the answer.
 */
void http_conn_fail(struct http_conn *c, int status, const char *errmsg);

#endif
