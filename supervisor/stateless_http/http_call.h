/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.h - calls: requests by POST, of the revisions without sessions. Each
 * has a struct session for itself alone, so that ids of different clients never
 * meet; its answer is plain, or the last event of a stream that nobody can take
 * up again. When its client is gone, what it asked for is cancelled.
 */
#ifndef SUPERVISOR_STATELESS_HTTP_HTTP_CALL_H
#define SUPERVISOR_STATELESS_HTTP_HTTP_CALL_H

#include <event2/event.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "proto/mcp/rpc.h"
#include "supervisor/http/http_conn.h"

struct http_call;
struct http_share;
struct context;
struct requestor;

/* Q's message M came on C; what the callee does not take of it is let go. */
typedef void (*http_call_taker)(void *arg, struct requestor *q,
				struct http_conn *c, struct rpc_msg *m);

/* All calls of a server. */
struct http_calls {
	struct context *ctx;	  /* borrowed, as SHARE */
	struct http_share *share; /* these count, too */
	http_call_taker take;	  /* is told of a large message that is read */
	void *arg;		  /* its own */
	bool closing;		  /* the server ends */
	TAILQ_HEAD(http_call_list, http_call) alive; /* oldest first */
	struct http_call_list over;	 /* answered or lost: to be freed */
	struct http_call_list ready;	 /* not begun yet, but might be */
	struct http_call_list upgrading; /* oldest first */
	struct event *go_on;		 /* with those that are ready */
	struct event *upgrade; /* due when the first of upgrading is */
	struct event *bury;    /* those that are over */
};

/* CTX and SHARE are lent. */
void http_calls_init(struct http_calls *all, struct context *ctx,
		     struct http_share *share, http_call_taker take, void *arg);
/* The server ends: clients are told, and runs are left to it. */
void http_calls_fini(struct http_calls *all);
/* Those whose token, or want of one, was good and is so no more are cancelled. */
void http_calls_recheck(struct http_calls *all, bool anybody);

/* M, a request of Q's with a good head, came on C; it is answered there. */
void http_call_take(struct http_calls *all, struct requestor *q,
		    struct http_conn *c, struct rpc_msg *m);
/* C's message, a large one of Q's, is read on a thread; then calls.take. */
void http_call_read(struct http_calls *all, struct requestor *q,
		    struct http_conn *c);

/* The answer on C to the request ID (NULL: nobody knows): again in RETRY_MS. */
void http_call_refuse(struct http_conn *c, const char *id, int64_t retry_ms,
		      const char *errmsg);

#endif
