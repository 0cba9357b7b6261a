/* SPDX-License-Identifier: Apache-2.0 */
/* lua_state.h - the Lua 5.4 state of a run, and the memory limit. */
#ifndef WORKER_LUA_LUA_STATE_H
#define WORKER_LUA_LUA_STATE_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Make a thread of a state filled by OPEN, with garbage collected, and not yet limited:
 * once, in the zygote. NULL: no memory.
 */
lua_State *lua_state_new(lua_CFunction open);

/* Limit the state to BYTES in all; 0: no limit. */
void lua_state_limit(lua_State *L, size_t bytes);

/* Memory that counts for the state; NULL when the limit refuses the allocation. */
void *lua_state_alloc(size_t bytes);
void lua_state_free(void *p, size_t bytes);

size_t lua_state_used(void); /* bytes */
/*
 * The bytes that would have been in use at the last refused allocation; 0: none was
 * refused.
 */
size_t lua_state_refused(void);
size_t lua_state_allowed(void);

/* The run has failed: the report may exceed the limit. */
void lua_state_reserve(void);

#endif
