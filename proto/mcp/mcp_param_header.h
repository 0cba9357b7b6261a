/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_param_header.h - a tool's arguments that HTTP's header repeats: the
 * argument whose schema has "x-mcp-header": "Region" comes as Mcp-Param-Region,
 * too; pure functions.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * (custom headers from tool parameters)
 */
#ifndef PROTO_MCP_MCP_PARAM_HEADER_H
#define PROTO_MCP_MCP_PARAM_HEADER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "proto/mcp/pointer_error.h"

#define MCP_PARAM_HEADERS_MAX 16     /* headers in one schema */
#define MCP_PARAM_HEADER_NAME_MAX 64 /* bytes of a name, without "Mcp-Param-" */

/* Empty when zeroed. Owns its lists, and does not depend on the schema. */
struct mcp_param_headers {
	size_t n;
	struct mcp_param_header {
		char *name;   /* the field's name: "Mcp-Param-Region" */
		char *where;  /* the part of the body:
				 "params.arguments/place/region" */
		char **names; /* names of the properties on the way there */
		size_t depth; /* number of names */
	} list[MCP_PARAM_HEADERS_MAX];
};

/*
 * Read the headers of SCHEMA, a tool's inputs. True, and H is the caller's to
 * fini. False: H is empty, and F points at the first "x-mcp-header" for which
 * clients would refuse the tool, or that would expose a secret on the way.
 */
bool mcp_param_headers_read(struct mcp_param_headers *h,
			    struct json_object *schema,
			    struct pointer_error *f);
void mcp_param_headers_fini(struct mcp_param_headers *h); /* leaves H empty */

/*
 * Return the value of the request's field NAME, in any case; NULL: none came.
 */
typedef const char *mcp_param_lookup(void *arg, const char *name);

/*
 * Do the header fields of an HTTP request, found by LOOKUP, have the same values as
 * the call's ARGUMENTS (NULL: none)? A missing or null argument must have no
 * field. False: ERRMSG names the first field that differs, in the words of
 * mcp_header_check().
 */
bool mcp_param_headers_check(const struct mcp_param_headers *h,
			     struct json_object *arguments,
			     mcp_param_lookup *lookup, void *arg, char *errmsg,
			     size_t size);

#endif
