/* SPDX-License-Identifier: Apache-2.0 */
/* json_diff.h - compares two JSON values. */
#ifndef PROTO_JSON_JSON_DIFF_H
#define PROTO_JSON_JSON_DIFF_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Are A and B equal? Members may be in any order; 1 and 1.0 are the same
 * number, and nothing is rounded. False: POINTER is a JSON Pointer to the first
 * difference ("" is the root).
 */
bool json_diff(struct json_object *a, struct json_object *b, char *pointer,
	       size_t size);

#endif
