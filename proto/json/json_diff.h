/* SPDX-License-Identifier: Apache-2.0 */
/* json_diff.h - whether two JSON values say the same. */
#ifndef PROTO_JSON_JSON_DIFF_H
#define PROTO_JSON_JSON_DIFF_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Members in any order; 1 and 1.0 are the same number, and nothing is rounded.
 * Where they differ first goes to POINTER, a JSON Pointer ("" is the whole).
 */
bool json_diff(struct json_object *a, struct json_object *b, char *pointer,
	       size_t size);

#endif
