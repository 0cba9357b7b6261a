/* SPDX-License-Identifier: Apache-2.0 */
/* lua_outcome.h - how a run ended, as its last message says it. */
#ifndef WORKER_LUA_LUA_OUTCOME_H
#define WORKER_LUA_LUA_OUTCOME_H

#include <lua.h>
#include <stddef.h>

/* The template returned the value at IDX: RESULT, or why it cannot be one. */
void lua_outcome_value(lua_State *L, int idx, size_t output_bytes);

/*
 * Coroutine T died with STATUS, and its error is on top of it: FAIL. L is
 * another state, or the same if its error is not the template's.
 */
void lua_outcome_error(lua_State *L, lua_State *T, int status);

/* There is no memory even for that. */
void lua_outcome_no_memory(void);

#endif
