/* SPDX-License-Identifier: Apache-2.0 */
/* schema_outline.h - a JSON Schema as people read it: names, types, bounds. */
#ifndef CLI_SCHEMA_OUTLINE_H
#define CLI_SCHEMA_OUTLINE_H

#include <json-c/json.h>

/*
 * Print TITLE and the members of SCHEMA's objects on stdout, nested members
 * included, up to a bound. Prints nothing for a schema without members.
 */
void schema_outline_print(const char *title, struct json_object *schema);

#endif
