/* SPDX-License-Identifier: Apache-2.0 */
/* cppcheck.h - macros of system headers, as cppcheck should read them. */
#define HASH_ITER(hh, head, el, tmp)                                           \
	for ((el) = (head), (tmp) = (head); (el); (el) = (tmp))
#define json_object_object_foreach(obj, key, val)                              \
	const char *key = 0;                                                   \
	struct json_object *val = 0;                                           \
	for (; key;)

/* json_pack.h's macros count arguments as cppcheck cannot: as functions. */
#define PROTO_JSON_JSON_PACK_H
#include "proto/json/json.h"
struct json_object;
struct json_object *json_pack(const char *spec, ...);
void json_add(struct json_object *o, const char *spec, ...);
struct json_object *json_unpack(const char *text, size_t len);
