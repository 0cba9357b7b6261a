/* SPDX-License-Identifier: Apache-2.0 */
/* json_is.h - what a value is, for tables of what members must be. */
#ifndef PROTO_JSON_JSON_IS_H
#define PROTO_JSON_JSON_IS_H

#include <json-c/json.h>
#include <stdbool.h>

typedef bool json_is_fn(struct json_object *v);

json_is_fn json_is_string, json_is_number, json_is_object;

/* An array, each element of which is so. */
bool json_is_list(struct json_object *v, json_is_fn *each);

#endif
