/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn.h - HTTP/1 connections: bytes in and out, time limits, one request
 * after the other. The meaning of a request is not known here.
 */
#ifndef SUPERVISOR_HTTP_HTTP_CONN_H
#define SUPERVISOR_HTTP_HTTP_CONN_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "supervisor/clients/http/http_parse.h"
#include "supervisor/clients/http/sse.h"
#include "supervisor/requestor/memory.h"
#include "supervisor/requestor/fair_queue.h"

#define HTTP_HEAD_MS 10000 /* from the first byte of a head to its blank line */
#define HTTP_BODY_MS 30000 /* from the blank line to the last byte of a body */
#define HTTP_IDLE_MS 60000 /* time of a client between two requests */
/* time in which the client reads none of the unsent bytes */
#define HTTP_STALL_MS 30000
/* time for a client to read why its connection is closed */
#define HTTP_LINGER_MS 2000
/* bytes; a stream may add more when fewer are unsent */
#define HTTP_UNSENT_LOW 65536
/* bytes that may come after the request being served */
#define HTTP_PIPELINE_MAX 65536
/*
 * Bytes of requests that may be held at the same time: of all connections,
 * where a requestor has its share (base/fair_share.h) and may always send one
 * request; and of all connections without a known requestor.
 */
#define HTTP_BODIES_MAX (256u << 20)
#define HTTP_BODIES_NOBODY (1u << 20)

struct http_conn;

struct http_conn_ops {
	/*
	 * The head of request R is complete. False: the owner has replied, and
	 * the body is not wanted.
	 */
	bool (*on_head)(void *arg, struct http_conn *c,
			const struct http_request *r);
	/*
	 * The whole request R is there: reply now or later. R lives until the
	 * reply is made.
	 */
	void (*on_request)(void *arg, struct http_conn *c,
			   const struct http_request *r);
	void (*on_closed)(void *arg, struct http_conn *c);
	/* Clients have read some of the unsent bytes. May be NULL. */
	void (*on_unread_less)(void *arg);
};

/* The limits that http_pool_init() sets; a test may lower them. */
struct http_limits {
	int64_t head_ms, body_ms, idle_ms, stall_ms, linger_ms;
	size_t bodies, nobodys; /* HTTP_BODIES_MAX, HTTP_BODIES_NOBODY */
};

/* The connections of a listener. */
struct http_pool {
	struct event_base *base;
	/* borrowed; NULL: on_request() is called at once, without turns */
	struct fair_queue *turns;
	/* turns of connections without a known requestor */
	struct fair_queue_flow lane;
	const struct http_conn_ops *ops;
	void *arg;
	size_t body_max;
	int64_t keepalive_ms; /* silence after which a stream gets a comment */
	size_t n;
	struct http_usage held; /* bytes held by all connections */
	/* bytes held by connections without a known requestor */
	struct http_usage nobody;
	struct http_limits limits;
	bool closing; /* connections close after the current answer */
	TAILQ_HEAD(http_conns, http_conn) all;
	struct http_conns anonymous; /* wait for a request, without a user */
	/* have a user, wait for the first byte of a request */
	struct http_conns idle;
	struct http_peer *peers; /* addresses of the anonymous connections */
};

void http_pool_init(struct http_pool *p, struct event_base *base,
		    const struct http_conn_ops *ops, void *arg);
/*
 * Add FD, a connected non-blocking socket, which the pool *takes*. FROM is the
 * peer's address (NULL: not known). At most ANONYMOUS connections of one
 * address wait for a request without a user (http_conn_set_user()): the oldest
 * of them is closed to make room.
 */
void http_pool_add(struct http_pool *p, int fd, const struct sockaddr *from,
		   size_t anonymous);
/*
 * Close one connection that waits for a request: the oldest without a user,
 * else the longest idle of those that have received no byte of a request.
 * False: no connection could be closed.
 */
bool http_pool_yield(struct http_pool *p);
/* Close the connections that are past a time limit. Call this often. */
void http_pool_tick(struct http_pool *p);
/*
 * Take no more requests: close idle connections now, the others after their
 * answer.
 */
void http_pool_drain(struct http_pool *p);
/* Write unsent bytes until UNTIL_MS (monotonic), then close all connections. */
void http_pool_fini(struct http_pool *p, int64_t until_ms);

/* ---- for the module that answers a request ---- */

/*
 * Add FIELDS to the head of the answer: lines that end in CR LF. *Copies*
 * FIELDS.
 */
void http_conn_fields(struct http_conn *c, const char *fields);
/*
 * Return the status to answer with: STATUS, or 200 if STATUS is 0. If RETRY_MS
 * is not 0, add a Retry-After field and return 429.
 */
int http_conn_status(struct http_conn *c, int status, int64_t retry_ms);
/* Add the header field Retry-After: C's client may ask again in MS. */
void http_conn_retry_after(struct http_conn *c, int64_t ms);
#define HTTP_RETRY_SOON_MS 1000

/*
 * A sink gets the body of a request as it comes, so that the body is not held
 * in memory. Call http_conn_sink() from on_head(). The sink gets all bytes that
 * were read; while WANTS returns false no more are read, until
 * http_conn_read_on(). The client has to send some bytes every body_ms, and
 * HTTP_SINK_PER_MS on the average.
 */
#define HTTP_SINK_BYTES 65536 /* most bytes of one call */
#define HTTP_SINK_PER_MS 16   /* bytes a millisecond, on the average */
struct http_sink {
	void (*bytes)(void *arg, const char *data, size_t n);
	bool (*wants)(void *arg);
};
void http_conn_sink(struct http_conn *c, const struct http_sink *sink,
		    void *arg);
void http_conn_read_on(struct http_conn *c);
/* Close C after the answer: the client may send more of a refused request. */
void http_conn_last(struct http_conn *c);

/* Send the whole answer. TYPE is the media type, or NULL for no body. */
void http_conn_reply(struct http_conn *c, int status, const char *type,
		     const char *body, size_t len);

/*
 * Refuse the request with STATUS; the body is a JSON-RPC error without an id.
 */
void http_conn_refuse(struct http_conn *c, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Answer by an event stream instead: send the head; http_conn_put() adds to the
 * stream, http_conn_end() ends it.
 */
void http_conn_begin(struct http_conn *c);
void http_conn_put(struct http_conn *c, const char *text, size_t len);
/* Put event E of stream S. The text of E is copied once, however long it is. */
void http_conn_put_event(struct http_conn *c, const struct sse *s,
			 const struct sse_event *e);
void http_conn_end(struct http_conn *c);
/*
 * Answer by a body of LEN bytes instead: send the head; http_conn_put_body()
 * adds bytes, http_conn_end() ends the answer.
 */
void http_conn_begin_body(struct http_conn *c, int status, const char *type,
			  int64_t len);
void http_conn_put_body(struct http_conn *c, const char *data, size_t n);
size_t http_conn_unsent(const struct http_conn *c); /* unsent bytes */
/* Tell C that its stream has BYTES more to put when fewer bytes are unsent. */
void http_conn_due(struct http_conn *c, size_t bytes);
/*
 * Count what C holds in USAGE from now on, and queue C's requests in the turns of
 * LANE (*lends* both; NULL: of connections without a known requestor).
 */
void http_conn_set_usage(struct http_conn *c, struct http_usage *usage,
			 struct fair_queue_flow *lane);

/*
 * Watchers are called until the answer is complete: GONE when the client has
 * gone, or the request's body broke off or is malformed; DRAINED (may be NULL)
 * when few bytes are unsent. A NULL watcher ends the watch.
 */
struct http_watch {
	void (*gone)(void *watcher);
	void (*drained)(void *watcher);
};
void http_conn_watch(struct http_conn *c, const struct http_watch *w,
		     void *watcher);

/* Return the WATCHER given to http_conn_watch(). */
void *http_conn_watcher(const struct http_conn *c);

/* Has C's client closed its sending side? An event stream would end then. */
bool http_conn_ended(const struct http_conn *c);

/* Return the request that is being answered. */
const struct http_request *http_conn_request(const struct http_conn *c);

/*
 * Return the body of the request, which the caller owns; the request has no
 * body from then on.
 */
char *http_conn_take_body(struct http_conn *c, size_t *len);

/*
 * The request cannot be answered yet: call on_request() again in C's next turn.
 */
void http_conn_again(struct http_conn *c);

/* Return when the head of the request was complete (monotonic). */
int64_t http_conn_head_ms(const struct http_conn *c);

/*
 * Set the user of C: a pointer of the answering module to the requestor behind
 * C. NULL at first, and while the requestor is not known: such a connection is
 * the first to be closed to make room.
 */
void http_conn_set_user(struct http_conn *c, void *user);
void *http_conn_user(const struct http_conn *c);

#endif
