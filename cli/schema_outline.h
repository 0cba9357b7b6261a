/* SPDX-License-Identifier: Apache-2.0 */
/* schema_outline.h - a JSON Schema as people read it: names, types, bounds. */
#ifndef CLI_SCHEMA_OUTLINE_H
#define CLI_SCHEMA_OUTLINE_H

#include <json-c/json.h>

/*
 * TITLE and, on stdout, the members of SCHEMA's objects, opened as deep as they
 * go, within a bound. Nothing, when it says nothing of any member.
 */
void schema_outline_print(const char *title, struct json_object *schema);

#endif
