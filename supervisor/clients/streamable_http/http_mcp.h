/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_mcp.h - the endpoint of Streamable HTTP: the meaning of POST, GET and
 * DELETE, for the revisions with sessions.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_MCP_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_MCP_H

#include "supervisor/clients/http/http_conn.h"
#include "supervisor/clients/streamable_http/http_session.h"

#define HTTP_MCP_ALLOW "GET, POST, DELETE"

/*
 * Set up an empty list of sessions. *Lends* CONNS: the bytes held by all
 * connections.
 */
void http_mcp_init(struct http_sessions *all, struct context *ctx,
		   const struct http_usage *conns);
/* End all sessions. The store keeps the rows, for the next server. */
void http_mcp_fini(struct http_sessions *all);

/*
 * Check the head of R, whose requestor is known. False: C was refused, and the
 * body is not wanted.
 */
bool http_mcp_head(struct http_conn *c, const struct http_request *r);

/* Serve C's request, which is complete, for REQUESTOR. */
void http_mcp_request(struct http_sessions *all, struct requestor *requestor,
		      struct http_conn *c);

#endif
