/* SPDX-License-Identifier: Apache-2.0 */
/* http_conn_private.h - for http_conn.c, http_conn_reply.c, http_pool.c alone. */
#ifndef SUPERVISOR_HTTP_HTTP_CONN_PRIVATE_H
#define SUPERVISOR_HTTP_HTTP_CONN_PRIVATE_H

#include "base/buf.h"
#include "supervisor/http/http_conn.h"

enum http_conn_state {
	READING,   /* or waiting for the first byte of a request */
	ANSWERING, /* somebody will reply */
	STREAMING, /* somebody replies all the time */
	ANSWERED,  /* all of it is in UNSENT */
	LINGERING, /* all is written; what still comes is let go */
};

#define HTTP_PEER_BYTES 16

struct http_conn {
	struct http_pool *pool;
	TAILQ_ENTRY(http_conn) link; /* in pool.all */
	struct http_conns *rank;     /* pool.anonymous, pool.idle, or NULL */
	TAILQ_ENTRY(http_conn) rank_link;    /* in *rank */
	struct http_peer *peer;		     /* while it is anonymous */
	TAILQ_ENTRY(http_conn) peer_link;    /* in peer.conns */
	unsigned char from[HTTP_PEER_BYTES]; /* its address, or a part of it */
	int fd;
	enum http_conn_state state;
	struct http_parse *parse;
	struct buf in; /* came after the request that is served */
	struct buf unsent;
	struct event *readable, *writable;
	bool begun;	/* a request is coming in */
	bool head_told; /* and on_head() has been asked */
	bool last;	/* it closes with this answer */
	bool ended;	/* the client sends no more */
	bool headless;	/* HEAD: an answer without its body */
	bool old;	/* HTTP/1.0: no chunks */
	bool plain;  /* STREAMING is a body of bytes: no events, no comments */
	size_t held; /* bytes of requests, as counted in usage.bodies */
	size_t due;  /* bytes of the stream that are not put yet */
	size_t counted; /* in usage.unread */
	/* for a request that is whole, or what came after */
	struct fair_queue_turn turn;
	struct fair_queue_flow *lane; /* borrowed: whose turn that is */
	bool my_turn;
	struct http_usage *usage; /* borrowed; pool.nobody at first */
	/* who gets the body of this request; or NULL */
	const struct http_sink *sink;
	void *sink_arg;
	int64_t sunk;	     /* bytes of it */
	int64_t told_ms;     /* when its head was there */
	int64_t deadline_ms; /* 0: none */
	int64_t since_ms;    /* in this state */
	int64_t moved_ms;    /* unsent bytes last left */
	int64_t put_ms;	     /* somebody last put something */
	char *fields;
	const struct http_watch *watch;
	void *watcher;
	void *user;
};

/* C's state or user has changed, or (GONE) it ends: is it in the way? */
void http_pool_rank(struct http_conn *c, bool gone);
struct http_conn *http_conn_new(struct http_pool *p, int fd);
void http_conn_free(struct http_conn *c); /* whatever its state */
void http_conn_enter(struct http_conn *c, enum http_conn_state state,
		     int64_t limit_ms); /* 0: it may last */
/* What waits for the client to read it has changed. */
void http_conn_weigh(struct http_conn *c);
/* TEXT goes out as it is. */
void http_conn_put_raw(struct http_conn *c, const char *text);
/* 0 when all is written, -EAGAIN, or -errno when nobody reads any more. */
int http_conn_write(struct http_conn *c);
/* As http_conn_refuse(), and the connection cannot go on after it. */
void http_conn_fail(struct http_conn *c, int status, const char *errmsg);

#endif
