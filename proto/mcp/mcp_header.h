/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_header.h - HTTP's header fields that repeat what a body says, held against
 * it; pure functions. Whoever routes by a header and whoever acts on the body
 * are to see the same.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * (request metadata)
 */
#ifndef PROTO_MCP_MCP_HEADER_H
#define PROTO_MCP_MCP_HEADER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/* What a field has to repeat. */
struct mcp_header {
	const char *name;  /* "Mcp-Name" */
	const char *where; /* "params.name", for the sentence */
	bool plain;	   /* it is never wrapped: MCP-Protocol-Version… */
};

/*
 * Does VALUE (NULL: the field did not come) say what BODY does? Blanks around
 * it say nothing, and what is wrapped as =?base64?…?=, exactly so written, is
 * decoded: it has to be canonical Base64 of UTF-8, and all else visible ASCII.
 * Strings are compared exactly, booleans as true and false, and numbers as numbers, in the
 * notation of JSON: 42.0 is 42, -0 is 0, 007 is none. A BODY that is null (NULL)
 * needs the field to be absent, too; lists and objects cannot be said, and have
 * none. False: one sentence in ERRMSG, which shows neither of the two.
 */
bool mcp_header_check(const struct mcp_header *h, const char *value,
		      struct json_object *body, char *errmsg, size_t size);

#endif
