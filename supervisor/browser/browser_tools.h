/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_tools.h - the browser's actions as tools, defined by the table that
 * paddock-browser checks them by.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_TOOLS_H
#define SUPERVISOR_BROWSER_BROWSER_TOOLS_H

#include <json-c/json.h>

#include "ipc/browser_proto.h"

/* The tool after ACTION (NULL: the first); NULL: there is none. */
const struct browser_proto_action *
browser_tool_next(const struct browser_proto_action *action);
/* The tool called NAME, or NULL. */
const struct browser_proto_action *browser_tool(const char *name);

/* Its definition, as tools/list has it; the caller's. */
struct json_object *
browser_tool_definition(const struct browser_proto_action *action);

#endif
