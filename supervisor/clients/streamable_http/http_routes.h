/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_routes.h - the paths served, and admission: Host, Origin, method and
 * token are checked here, before any byte of a body is read.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_ROUTES_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_ROUTES_H

#include "supervisor/clients/http/http_addr.h"
#include "supervisor/clients/http/http_conn.h"
#include "supervisor/clients/streamable_http/http_session.h"
#include "supervisor/clients/http/http_waitq.h"

struct config;

#define HTTP_EARLY_MS 10000 /* wait of a request before the server is ready */
#define HTTP_ROUTES_STARTS "the server starts: its cage is still being measured"
#define HTTP_ROUTES_ENDS "the server is about to end"

struct http_routes {
	struct context *ctx;
	struct http_addr addr;	 /* the address of the listener */
	bool ready;		 /* MCP is served; until then requests wait */
	struct http_waitq early; /* requests which wait for READY */
	/* monotonic time of the last reload: tokens may have changed */
	int64_t looked_ms;
	struct http_sessions sessions;
	size_t connections_max;
	size_t n_known; /* connections whose requestor is known */
};

/* the callbacks of the pool, for a struct http_routes */
extern const struct http_conn_ops http_routes_ops;

/* Does any requestor have a token (RFC 6750)? */
bool http_routes_token_possible(const struct config *config);

#endif
