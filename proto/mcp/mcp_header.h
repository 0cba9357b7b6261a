/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_header.h - compares HTTP's header fields with the parts of the body that
 * they repeat; pure functions. A proxy routes by the header and the server acts
 * by the body, so both must say the same.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * (request metadata)
 */
#ifndef PROTO_MCP_MCP_HEADER_H
#define PROTO_MCP_MCP_HEADER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/* A header field, and the part of the body that the field repeats. */
struct mcp_header {
	const char *name;  /* the field's name: "Mcp-Name" */
	const char *where; /* the part of the body, for sentences:
			      "params.name" */
	bool plain;	   /* never wrapped in Base64: MCP-Protocol-Version */
};

/*
 * Does VALUE (NULL: the field did not come) say the same as BODY? Blanks around
 * VALUE are skipped. A value between =?base64? and ?=, exactly so written, is
 * decoded: it has to be canonical Base64 of UTF-8; any other value has to be
 * visible ASCII. Strings are compared exactly, booleans as true and false, and
 * numbers as numbers, in the notation of JSON: 42.0 is 42, -0 is 0, 007 is no
 * number. A BODY of null (NULL), a list or an object needs the field to be
 * absent. False: one sentence in ERRMSG, which shows neither VALUE nor BODY.
 */
bool mcp_header_check(const struct mcp_header *h, const char *value,
		      struct json_object *body, char *errmsg, size_t size);

#endif
