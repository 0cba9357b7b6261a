/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_json.h - Lua values to JSON text and back; run.json, run.null, run.array. null is
 * run.null. A table is an array if the keys are 1..n, or if run.array() or a decoded
 * array made the table; any other table is an object, even an empty table. Integers keep
 * all 64 bits; other numbers are doubles, and a double with an integral value below 2^53
 * is written as an integer. Objects are written with sorted keys, so that equal values
 * give equal texts.
 */
#ifndef WORKER_LUA_JSON_LUA_JSON_H
#define WORKER_LUA_JSON_LUA_JSON_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#define LUA_JSON_DEPTH_MAX 64

void lua_json_open(lua_State *L);

/* Push {encode=, decode=}. */
void lua_json_push_library(lua_State *L);

void lua_json_push_null(lua_State *L);
bool lua_json_is_null(lua_State *L, int idx);

/* Mark the table at IDX, which has no other metatable, as an array. */
void lua_json_mark_array(lua_State *L, int idx);
bool lua_json_is_array(lua_State *L, int idx); /* is the table marked? */
int lua_json_array(lua_State *L);	       /* the function run.array */

/*
 * Push the value at IDX as JSON text. Above MAX bytes nothing is pushed, and the result
 * is false; *LEN is the length in either case. A value that JSON does not have raises an
 * error with the path.
 */
bool lua_json_encode(lua_State *L, int idx, size_t max, size_t *len);

/*
 * Push the value of the LEN bytes at TEXT; TEXT[LEN] is NUL. Raises an error with the
 * position for anything but RFC 8259 in UTF-8 without duplicate keys, lone surrogates,
 * NULs in keys, or more than LUA_JSON_DEPTH_MAX levels.
 */
void lua_json_decode(lua_State *L, const char *text, size_t len);

#endif
