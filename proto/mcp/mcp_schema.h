/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_schema.h - JSON Schemas as MCP lets a tool show them. */
#ifndef PROTO_MCP_MCP_SCHEMA_H
#define PROTO_MCP_MCP_SCHEMA_H

#include <json-c/json.h>

#include "proto/mcp/mcp.h"

/*
 * What a tool shows as its inputSchema for arguments that SCHEMA (lent, an
 * object) checks: true and false among "properties" are put in other words, as
 * MCP has it, expressions are spelt as JavaScript wants them, and what hosts of
 * models refuse at the top is left out before MCP 2026-07-28, and the default
 * dialect's name, unless SCHEMA has what only that knows. It lets through all
 * that SCHEMA does. The caller owns it.
 */
struct json_object *mcp_schema_inputs(struct json_object *schema,
				      enum mcp_revision rev);

/*
 * The outputSchema of a tool that answers by SCHEMA or by OTHER (both lent and
 * of objects): {type: object, anyOf: [SCHEMA, OTHER]}, in which the references
 * of SCHEMA lead where they led; it is any object when they name a schema by
 * its $id. OTHER has none. The caller owns it.
 */
struct json_object *mcp_schema_either(struct json_object *schema,
				      struct json_object *other);

#endif
