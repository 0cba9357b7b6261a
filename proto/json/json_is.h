/* SPDX-License-Identifier: Apache-2.0 */
/* json_is.h - predicates of a JSON value, for tables of members. */
#ifndef PROTO_JSON_JSON_IS_H
#define PROTO_JSON_JSON_IS_H

#include <json-c/json.h>
#include <stdbool.h>

typedef bool json_is_fn(struct json_object *v);

json_is_fn json_is_string, json_is_number, json_is_object;

/* Is V an array, with EACH true for every element? */
bool json_is_list(struct json_object *v, json_is_fn *each);

#endif
