/* SPDX-License-Identifier: Apache-2.0 */
/* same.h - whether two JSON values say the same. */
#ifndef CLI_SAME_H
#define CLI_SAME_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Members in any order; 1 and 1.0 are the same number, and nothing is rounded.
 * Where they differ first goes to POINTER, a JSON Pointer ("" is the whole).
 */
bool same_json(struct json_object *a, struct json_object *b, char *pointer,
	       size_t size);

#endif
