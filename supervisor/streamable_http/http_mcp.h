/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_mcp.h - the endpoint of Streamable HTTP: what POST, GET and DELETE
 * mean, for the revisions that have sessions.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_MCP_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_MCP_H

#include <event2/event.h>

#include "supervisor/http/http_conn.h"
#include "supervisor/streamable_http/http_session.h"

#define HTTP_MCP_ALLOW "Allow: GET, POST, DELETE\r\n"

/*
 * Is the head of R such that its body is wanted? False: C has its refusal.
 * Who asks has been found out.
 */
bool http_mcp_head(struct http_conn *c, const struct http_request *r);

/* All of R is there; REQUESTOR asks. */
void http_mcp_request(struct http_sessions *all, struct requestor *requestor,
		      struct http_conn *c, const struct http_request *r);

/* Refusals of C: there is no such session, whoever's; or no room for one. */
void http_mcp_no_session(struct http_conn *c);
void http_mcp_no_room(const struct http_sessions *all,
		      const struct requestor *requestor, struct http_conn *c);

/* For http_session.c: a large answer is awaited no more; with what waited. */
void http_mcp_on_read_done(void *session);
void http_mcp_go_on(evutil_socket_t fd, short what, void *session);

#endif
