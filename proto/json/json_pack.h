/* SPDX-License-Identifier: Apache-2.0 */
/* json_pack.h - small JSON trees from a list, and out of one. */
#ifndef PROTO_JSON_JSON_PACK_H
#define PROTO_JSON_JSON_PACK_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_PACK_DEPTH_MAX 64

/*
 * An object of the members that SPEC names, "name:t name:t": s const char *
 * (NULL: null), i int64_t, b int, o struct json_object *, which it takes
 * (NULL: null). "name?t" leaves out what would be null.
 */
struct json_object *pack(const char *spec, ...);

/* LEN bytes of JSON as a tree, or NULL: not JSON, too deep, not an object. */
struct json_object *unpack(const char *text, size_t len);

/* Members, borrowed: NULL, 0, false for what is not there or another type. */
struct json_object *member(struct json_object *o, const char *name);
const char *member_str(struct json_object *o, const char *name);
int64_t member_int(struct json_object *o, const char *name);
bool member_bool(struct json_object *o, const char *name);

#endif
