/* SPDX-License-Identifier: Apache-2.0 */
/* json_pretty.h - JSON for people to read. */
#ifndef CLI_JSON_PRETTY_H
#define CLI_JSON_PRETTY_H

#include <json-c/json.h>

#include "base/buf.h"

/*
 * Append V: indented by two, what fits within a line on one line. The text
 * stays the same JSON; characters that act on a terminal are escaped.
 */
void json_pretty_add(struct buf *out, struct json_object *v);

/* The same as one line, without blanks. */
void json_pretty_add_compact(struct buf *out, struct json_object *v);

/* On stdout with a newline: pretty, or COMPACT. */
void json_pretty_print(struct json_object *v, int compact);

#endif
