/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.h - calls: requests by POST, of the revisions without sessions.
 * Each call has a struct session of its own, so that ids of different clients
 * never meet. The answer is plain, or the last event of a stream which cannot
 * be resumed. When the client is gone, its requests are cancelled.
 */
#ifndef SUPERVISOR_STATELESS_HTTP_HTTP_CALL_H
#define SUPERVISOR_STATELESS_HTTP_HTTP_CALL_H

#include <event2/event.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "proto/mcp/rpc.h"
#include "supervisor/clients/http/http_conn.h"

struct http_call;
struct http_share;
struct context;
struct requestor;

/*
 * Gets message M of Q, which came on C. The caller frees any part of M which
 * the function leaves.
 */
typedef void (*http_call_taker)(void *arg, struct requestor *q,
				struct http_conn *c, struct rpc_msg *m);

/* The calls of a server. */
struct http_calls {
	struct context *ctx;	  /* borrowed, as is SHARE */
	struct http_share *share; /* calls count in the share */
	http_call_taker take;	  /* called with a large message once parsed */
	void *arg;		  /* argument of TAKE */
	bool closing;		  /* the server ends */
	/* open calls, oldest first */
	TAILQ_HEAD(http_call_list, http_call) alive;
	struct http_call_list over;  /* ended calls, to be freed */
	struct http_call_list ready; /* deferred calls which may begin now */
	struct http_call_list upgrading; /* calls to upgrade, oldest first */
	struct event *go_on;		 /* event: begins READY calls */
	/* timer: due with the oldest call of UPGRADING */
	struct event *upgrade;
	struct event *bury; /* event: frees the calls of OVER */
};

/* *Lends* CTX and SHARE. */
void http_calls_init(struct http_calls *all, struct context *ctx,
		     struct http_share *share, http_call_taker take, void *arg);
/*
 * End all calls as the server ends: clients are told; the runs are left to the
 * end of the server.
 */
void http_calls_fini(struct http_calls *all);
/*
 * Cancel the calls whose token, or whose anonymous access, is no longer valid.
 */
void http_calls_recheck(struct http_calls *all, bool anybody);

/* Answer M, a request of Q with a good head, on C. */
void http_call_take(struct http_calls *all, struct requestor *q,
		    struct http_conn *c, struct rpc_msg *m);
/* Read C's large message, of Q, on a thread; calls.take gets the message. */
void http_call_read(struct http_calls *all, struct requestor *q,
		    struct http_conn *c);

/*
 * Answer request ID (NULL: unknown) on C with ERRMSG: come again in RETRY_MS.
 */
void http_call_refuse(struct http_conn *c, const char *id, int64_t retry_ms,
		      const char *errmsg);

#endif
