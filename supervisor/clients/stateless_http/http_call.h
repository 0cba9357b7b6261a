/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.h - calls: requests by POST, of the revisions without sessions.
 * Each call has a struct session of its own, so that ids of different clients
 * never meet. The answer is plain, or the last event of a stream which cannot
 * be resumed. When the client is gone, its requests are cancelled.
 */
#ifndef SUPERVISOR_STATELESS_HTTP_HTTP_CALL_H
#define SUPERVISOR_STATELESS_HTTP_HTTP_CALL_H

#include "supervisor/clients/http/http_exchange.h"

/* The calls of a server. */
struct http_calls {
	struct http_exchanges *exchanges; /* borrowed */
	bool closing;			  /* the server ends */
	struct http_exchange_list alive;  /* open calls, oldest first */
	struct http_exchange_list over;	  /* ended calls, to be freed */
	struct event *bury;		  /* event: frees the calls of OVER */
};

/* *Lends* EXCHANGES. */
void http_calls_init(struct http_calls *all, struct http_exchanges *exchanges);
/*
 * End all calls as the server ends: clients are told; the runs are left to the
 * end of the server.
 */
void http_calls_fini(struct http_calls *all);
/*
 * Cancel the calls whose token, or whose anonymous access, is no longer valid.
 */
void http_calls_recheck(struct http_calls *all, bool anybody);

/*
 * Answer M, a request of Q with a good head, on C. NULL: C's message is large; a
 * thread reads the message for exchanges.parsed().
 */
void http_call_take(struct http_calls *all, struct requestor *q,
		    struct http_conn *c, struct rpc_msg *m);

/*
 * Answer request ID (NULL: unknown) on C with ERRMSG: come again in RETRY_MS.
 */
void http_call_refuse(struct http_conn *c, const char *id, int64_t retry_ms,
		      const char *errmsg);

#endif
