/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_param_header.h - arguments of a tool that HTTP's header repeats: a
 * property of its schema that has "x-mcp-header": "Region" comes as
 * Mcp-Param-Region, too; pure functions.
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

#define MCP_PARAM_HEADERS_MAX 16     /* in one schema */
#define MCP_PARAM_HEADER_NAME_MAX 64 /* bytes, without "Mcp-Param-" */

/* All zero is none; owned, and of no schema once it is read. */
struct mcp_param_headers {
	size_t n;
	struct mcp_param_header {
		char *name;   /* "Mcp-Param-Region" */
		char *where;  /* "params.arguments/place/region" */
		char **names; /* of the properties that lead there… */
		size_t depth; /* …so many */
	} list[MCP_PARAM_HEADERS_MAX];
};

/*
 * Reads them from SCHEMA, a tool's inputs. True, and H is the caller's to
 * fini; or false, H is empty, and F points at the first "x-mcp-header" that
 * clients would refuse the tool for, or that would show a secret on the way.
 */
bool mcp_param_headers_read(struct mcp_param_headers *h,
			    struct json_object *schema,
			    struct pointer_error *f);
void mcp_param_headers_fini(struct mcp_param_headers *h); /* H is empty again */

/* The value of the request's field NAME, in whatever case; NULL: none came. */
typedef const char *mcp_param_lookup(void *arg, const char *name);

/*
 * Do the fields that LOOKUP gives say what ARGUMENTS (NULL: none) do? What is
 * null or not there has no field. False: the sentence on the first that does
 * not, by mcp_header_check(), in ERRMSG.
 */
bool mcp_param_headers_check(const struct mcp_param_headers *h,
			     struct json_object *arguments,
			     mcp_param_lookup *lookup, void *arg, char *errmsg,
			     size_t size);

#endif
