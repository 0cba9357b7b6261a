/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_schema.h - JSON Schemas as MCP lets a tool show them. */
#ifndef PROTO_MCP_SCHEMA_H
#define PROTO_MCP_SCHEMA_H

#include <json-c/json.h>

/*
 * SCHEMA (lent, an object) for a tool's inputSchema or outputSchema: MCP knows
 * only objects as the "properties" of these, so what is true or false there is
 * put in other words. SCHEMA itself when there is nothing to change. The
 * caller owns it.
 */
struct json_object *mcp_schema(struct json_object *schema);

/*
 * The outputSchema of a tool that answers by SCHEMA or by OTHER (both lent and
 * of objects): {type: object, anyOf: [SCHEMA, OTHER]}, in which the references
 * of SCHEMA lead where they led. OTHER has none. The caller owns it.
 */
struct json_object *mcp_schema_either(struct json_object *schema,
				      struct json_object *other);

#endif
