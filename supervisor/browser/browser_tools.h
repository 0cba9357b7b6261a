/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_tools.h - the browser's actions as tools, from the table by which
 * paddock-browser checks actions.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_TOOLS_H
#define SUPERVISOR_BROWSER_BROWSER_TOOLS_H

#include <json-c/json.h>

#include "ipc/browser_proto.h"

/* Return the tool after ACTION (NULL: the first), or NULL. */
const struct browser_proto_action *
browser_tool_next(const struct browser_proto_action *action);
/* Return the tool called NAME, or NULL. */
const struct browser_proto_action *browser_tool(const char *name);

/* Return the tool's definition for tools/list; the caller's. */
struct json_object *
browser_tool_definition(const struct browser_proto_action *action);

#endif
