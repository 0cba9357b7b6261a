/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_schema.h - JSON Schemas in the form that MCP allows a tool to show. */
#ifndef PROTO_MCP_MCP_SCHEMA_H
#define PROTO_MCP_MCP_SCHEMA_H

#include <json-c/json.h>

#include "proto/mcp/mcp.h"

/*
 * Return the inputSchema of a tool for arguments checked by SCHEMA (lent, an
 * object). As MCP wants, "properties" have no true or false; expressions are
 * spelt for JavaScript. Before MCP 2026-07-28 the keywords at the top refused
 * by model hosts are left out, unless a reference needs them. The default
 * dialect is named only when older dialects lack a keyword of SCHEMA. The
 * result allows all that SCHEMA allows; the caller owns it.
 */
struct json_object *mcp_schema_inputs(struct json_object *schema,
				      enum mcp_revision rev);

/*
 * Return the outputSchema of a tool with answers by SCHEMA or by OTHER (both
 * lent, for objects): {type: object, anyOf: [SCHEMA, OTHER]}. SCHEMA's
 * references still lead to the same place; a SCHEMA with references to a
 * schema's $id is shown as any object. OTHER has no references. The caller owns
 * the result.
 */
struct json_object *mcp_schema_either(struct json_object *schema,
				      struct json_object *other);

#endif
