/* SPDX-License-Identifier: Apache-2.0 */
/* lua_outcome.h - the last message of a run. */
#ifndef WORKER_LUA_LUA_OUTCOME_H
#define WORKER_LUA_LUA_OUTCOME_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The template returned the value at IDX: send RESULT, or FAIL if the value is no valid
 * result.
 */
void lua_outcome_value(lua_State *L, int idx, size_t output_bytes);

/*
 * Coroutine T failed with STATUS, and the error is on top of T: send FAIL. L is another
 * state, or T itself if the error is not the template's. False: for lack of memory.
 */
bool lua_outcome_error(lua_State *L, lua_State *T, int status);

/* Send FAIL for lack of memory, without using the state. */
void lua_outcome_no_memory(void);

#endif
