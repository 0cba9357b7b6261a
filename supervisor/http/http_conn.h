/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn.h - HTTP/1 connections: bytes in and out, time limits, and one
 * request after the other. What a request means is not known here.
 */
#ifndef SUPERVISOR_HTTP_HTTP_CONN_H
#define SUPERVISOR_HTTP_HTTP_CONN_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "supervisor/http/http_parse.h"
#include "supervisor/requestor/http_usage.h"
#include "supervisor/requestor/fair_queue.h"

#define HTTP_HEAD_MS 10000	/* from its first byte to its blank line */
#define HTTP_BODY_MS 30000	/* from there to the last byte */
#define HTTP_IDLE_MS 60000	/* between two requests */
#define HTTP_STALL_MS 30000	/* nothing of what waits is read */
#define HTTP_LINGER_MS 2000	/* for a client to read why it is closed */
#define HTTP_UNSENT_LOW 65536	/* bytes; a stream may add more below this */
#define HTTP_PIPELINE_MAX 65536 /* bytes after the request that is served */
/*
 * Bytes of requests that may be held at once, of which a requestor has its share
 * (base/fair_share.h), and always one request; and those of nobody known.
 */
#define HTTP_BODIES_MAX (256u << 20)
#define HTTP_BODIES_NOBODY (1u << 20)

struct http_conn;

struct http_conn_ops {
	/*
	 * All of a request but its body is there. False: it has been replied
	 * to, and no body is wanted.
	 */
	bool (*on_head)(void *arg, struct http_conn *c,
			const struct http_request *r);
	/* All of it is: reply now or later. R lives until the reply is made. */
	void (*on_request)(void *arg, struct http_conn *c,
			   const struct http_request *r);
	void (*on_closed)(void *arg, struct http_conn *c);
	/* Clients have read some of what waits for them. NULL: no matter. */
	void (*on_unread_less)(void *arg);
};

/* What http_pool_init() sets; a test may lower them. */
struct http_limits {
	int64_t head_ms, body_ms, idle_ms, stall_ms, linger_ms;
	size_t bodies, nobodys; /* HTTP_BODIES_… */
};

/* All connections of a listener. */
struct http_pool {
	struct event_base *base;
	/* borrowed; NULL: each request is told at once */
	struct fair_queue *turns;
	struct fair_queue_flow lane; /* the turns of who is not known (yet) */
	const struct http_conn_ops *ops;
	void *arg;
	size_t body_max;
	int64_t keepalive_ms; /* a comment in a stream that is silent so long */
	size_t n;
	struct http_usage held;	  /* what all of them hold */
	struct http_usage nobody; /* and those of nobody known */
	struct http_limits limits;
	bool closing; /* no connection outlives its answer */
	TAILQ_HEAD(http_conns, http_conn) all;
	struct http_conns anonymous; /* wait for a request, and have no user */
	struct http_conns idle;	     /* have one, and wait for the first byte */
	struct http_peer *peers;     /* addresses of the anonymous ones */
};

void http_pool_init(struct http_pool *p, struct event_base *base,
		    const struct http_conn_ops *ops, void *arg);
/*
 * Takes FD, a connected non-blocking socket, whose peer is FROM (NULL: not
 * known). Of one address ANONYMOUS connections at most wait for a request
 * without a user (http_conn_set_user()): the oldest of these makes room.
 */
void http_pool_add(struct http_pool *p, int fd, const struct sockaddr *from,
		   size_t anonymous);
/*
 * Closes one that waits for a request: of those without a user the oldest,
 * else of those to which no byte of one has come. False: there is none.
 */
bool http_pool_yield(struct http_pool *p);
/* Time has passed: those past their limits are closed. Call it often. */
void http_pool_tick(struct http_pool *p);
/* No more requests: idle ones are closed, the others end with their answer. */
void http_pool_drain(struct http_pool *p);
/* Writes what is unsent until UNTIL_MS (monotonic), then closes all. */
void http_pool_fini(struct http_pool *p, int64_t until_ms);

/* ---- for who answers a request ---- */

/* FIELDS: more lines for the head of the answer, each with its CR LF. Copied. */
void http_conn_fields(struct http_conn *c, const char *fields);
/* The status of an answer: STATUS (0: 200), or that C may come in RETRY_MS. */
int http_conn_status(struct http_conn *c, int status, int64_t retry_ms);
/* One of these: C may come again in MS. */
void http_conn_retry_after(struct http_conn *c, int64_t ms);
#define HTTP_RETRY_SOON_MS 1000

/*
 * Who gets a request's body as it comes, instead of its being held: for on_head().
 * What is read is given whole, and no more is read while WANTS says no, until
 * http_conn_read_on(). A client has to send in time: a part each body_ms, and so much
 * on the average.
 */
#define HTTP_SINK_BYTES 65536 /* at once, at the most */
#define HTTP_SINK_PER_MS 16   /* bytes, on the average */
struct http_sink {
	void (*bytes)(void *arg, const char *data, size_t n);
	bool (*wants)(void *arg);
};
void http_conn_sink(struct http_conn *c, const struct http_sink *sink,
		    void *arg);
void http_conn_read_on(struct http_conn *c);
/* C's client may send more of what is refused: it closes with the answer. */
void http_conn_last(struct http_conn *c);

/* The whole answer; TYPE is the media type, NULL with no body. */
void http_conn_reply(struct http_conn *c, int status, const char *type,
		     const char *body, size_t len);

/* A refusal: why, as a JSON-RPC error without an id. */
void http_conn_refuse(struct http_conn *c, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Or: its head, then an event stream as it comes, and its end. */
void http_conn_begin(struct http_conn *c);
void http_conn_put(struct http_conn *c, const char *text, size_t len);
void http_conn_end(struct http_conn *c);
/* Or: its head, a body of LEN bytes as it comes, and its end. */
void http_conn_begin_body(struct http_conn *c, int status, const char *type,
			  int64_t len);
void http_conn_put_body(struct http_conn *c, const char *data, size_t n);
void http_conn_end_body(struct http_conn *c);
size_t http_conn_unsent(const struct http_conn *c); /* bytes */
/* The stream has BYTES more, for when that is less. */
void http_conn_due(struct http_conn *c, size_t bytes);
/* C's requests are told in the turns of LANE (NULL: of nobody known). */
void http_conn_set_flow(struct http_conn *c, struct fair_queue_flow *lane);
/* From now on USAGE (lent; NULL: nobody known) counts what C holds. */
void http_conn_set_usage(struct http_conn *c, struct http_usage *usage);

/*
 * Until the answer is complete: GONE when the client is, or its body breaks off or
 * is none, and DRAINED (or NULL)
 * when little is unsent. A NULL watcher takes it off.
 */
struct http_watch {
	void (*gone)(void *watcher);
	void (*drained)(void *watcher);
};
void http_conn_watch(struct http_conn *c, const struct http_watch *w,
		     void *watcher);

/* The WATCHER of that. */
void *http_conn_watcher(const struct http_conn *c);

/* Has C's client ended its side? A stream of events would end with that. */
bool http_conn_ended(const struct http_conn *c);

/* The request that is being answered. */
const struct http_request *http_conn_request(const struct http_conn *c);

/* Its body, as the caller's; the request has none from then on. */
char *http_conn_take_body(struct http_conn *c, size_t *len);

/* It cannot be answered yet: it is told again, in C's next turn. */
void http_conn_again(struct http_conn *c);

/* When its head was there; monotonic. */
int64_t http_conn_head_ms(const struct http_conn *c);

/*
 * What the answering side keeps with a connection, whose request it is; NULL
 * at first, and while nobody knows: then it is the first to make room.
 */
void http_conn_set_user(struct http_conn *c, void *user);
void *http_conn_user(const struct http_conn *c);

#endif
