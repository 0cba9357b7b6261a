/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_era.h - which era the message of a POST belongs to, and whether the head
 * says the same as it does; pure.
 *
 * What a message says of itself decides, never the head alone, which a proxy may
 * have changed: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
#ifndef SUPERVISOR_STATELESS_HTTP_HTTP_ERA_H
#define SUPERVISOR_STATELESS_HTTP_HTTP_ERA_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/mcp.h"
#include "proto/mcp/rpc.h"
#include "supervisor/http/http_parse.h"

enum http_era {
	HTTP_ERA_SESSIONS,  /* of a session, or to begin one */
	HTTP_ERA_STATELESS, /* by itself */
	HTTP_ERA_NEITHER,   /* refused, with 400 */
};

/* Why it is: an error of JSON-RPC. */
struct http_fault {
	int code;		  /* 0: none */
	struct json_object *data; /* the caller's, or NULL */
	char text[640];
};

/*
 * Where M goes, which came with the head R. One that is stateless, and a request,
 * may still have an envelope that is no good: who serves it says so.
 */
enum http_era http_era_of(const struct http_request *r, const struct rpc_msg *m,
			  struct http_fault *fault);

/* Does R's MCP-Protocol-Version name a revision without sessions, or to come? */
bool http_era_names_stateless(const struct http_request *r);
/* Does it name none that sessions have? False: it does, or is absent. */
bool http_era_names_no_session(const struct http_request *r);

/* The names of all revisions up to LAST, for people. */
#define HTTP_ERA_NAMES_SIZE 128
void http_era_names(char out[HTTP_ERA_NAMES_SIZE], enum mcp_revision last);

#endif
