/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_mcp.h - the endpoint of Streamable HTTP: what POST, GET and DELETE
 * mean, for the revisions that have sessions.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_MCP_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_MCP_H

#include "supervisor/http/http_conn.h"
#include "supervisor/streamable_http/http_session.h"

#define HTTP_MCP_ALLOW "GET, POST, DELETE"

/* Sessions, none yet. CONNS, lent: what all connections hold. */
void http_mcp_init(struct http_sessions *all, struct context *ctx,
		   const struct http_usage *conns);
/* All of them end; the store keeps them for a server after this one. */
void http_mcp_fini(struct http_sessions *all);

/*
 * Is the head of R such that its body is wanted? False: C has its refusal.
 * Who asks has been found out.
 */
bool http_mcp_head(struct http_conn *c, const struct http_request *r);

/* All of C's request is there; REQUESTOR asks. */
void http_mcp_request(struct http_sessions *all, struct requestor *requestor,
		      struct http_conn *c);

#endif
