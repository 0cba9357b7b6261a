/* SPDX-License-Identifier: Apache-2.0 */
/* lua_state.h - the Lua 5.4 state of a run, and its memory limit. */
#ifndef WORKER_LUA_LUA_STATE_H
#define WORKER_LUA_LUA_STATE_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A thread of a state that OPEN filled, its garbage collected, not yet limited:
 * made once, in the zygote. NULL: no memory.
 */
lua_State *lua_state_new(lua_CFunction open);

/* From now on the state may hold BYTES in all; 0: no limit. */
void lua_state_limit(lua_State *L, size_t bytes);

/* Memory that counts as the state's; NULL when the limit refuses it. */
void *lua_state_alloc(size_t bytes);
void lua_state_free(void *p, size_t bytes);

/*
 * The bytes that would have been held when the limit last refused some; 0: it
 * never did.
 */
size_t lua_state_refused(void);
size_t lua_state_allowed(void);

/* The run has failed: its report may exceed the limit. */
void lua_state_reserve(void);

#endif
