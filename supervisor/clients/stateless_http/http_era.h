/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_era.h - the era of a POST's message, and whether head and message agree;
 * pure.
 *
 * The message itself decides, never the head alone, which a proxy may have
 * changed:
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
#ifndef SUPERVISOR_STATELESS_HTTP_HTTP_ERA_H
#define SUPERVISOR_STATELESS_HTTP_HTTP_ERA_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/mcp.h"
#include "proto/mcp/rpc.h"
#include "supervisor/clients/http/http_parse.h"

enum http_era {
	HTTP_ERA_SESSIONS,  /* belongs to a session, or begins a session */
	HTTP_ERA_STATELESS, /* a message without a session */
	HTTP_ERA_NEITHER,   /* refused with status 400 */
};

/* The error of JSON-RPC for HTTP_ERA_NEITHER. */
struct http_fault {
	int code;		  /* code of JSON-RPC; 0: no fault */
	struct json_object *data; /* the caller's to free, or NULL */
	char text[640];
};

/*
 * Return the era of M, which came with the head R. A stateless request may
 * still have a bad envelope, which the method reports.
 */
enum http_era http_era_of(const struct http_request *r, const struct rpc_msg *m,
			  struct http_fault *fault);

/*
 * Does R's MCP-Protocol-Version name a revision without sessions, or a future
 * revision?
 */
bool http_era_names_stateless(const struct http_request *r);
/*
 * Does R's MCP-Protocol-Version name no revision with sessions? False also if
 * the field is absent.
 */
bool http_era_names_no_session(const struct http_request *r);

/* Write the names of all revisions up to LAST, for people. */
#define HTTP_ERA_NAMES_SIZE 128
void http_era_names(char out[HTTP_ERA_NAMES_SIZE], enum mcp_revision last);

#endif
