/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_routes.h - which path is what, and who may come there: Host, Origin,
 * method and token are checked here, before anything is read of a body.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_ROUTES_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_ROUTES_H

#include "supervisor/http/http_addr.h"
#include "supervisor/http/http_conn.h"
#include "supervisor/streamable_http/http_session.h"
#include "supervisor/http/http_waitq.h"

struct config;

#define HTTP_EARLY_MS 10000 /* for who comes before the server is ready */
#define HTTP_ROUTES_STARTS "the server starts: its cage is still being measured"
#define HTTP_ROUTES_ENDS "the server is about to end"

struct http_routes {
	struct context *ctx;
	struct http_addr addr;	 /* that it is served at */
	bool ready;		 /* MCP is served, too */
	struct http_waitq early; /* and until then so many wait for it */
	int64_t looked_ms;	 /* tokens may have changed then; monotonic */
	struct http_sessions sessions;
	size_t connections_max;
	size_t n_known; /* connections whose requestor is known */
};

extern const struct http_conn_ops http_routes_ops; /* of a struct http_routes */

/* Does any requestor have a token (RFC 6750)? */
bool http_routes_token_possible(const struct config *config);

#endif
