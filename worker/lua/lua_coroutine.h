/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_coroutine.h - the library of coroutines: the scheduler learns which coroutine runs,
 * so that a timeout interrupts code in any of them, and a task looks like a main program.
 */
#ifndef WORKER_LUA_LUA_COROUTINE_H
#define WORKER_LUA_LUA_COROUTINE_H

#include <lua.h>

int lua_coroutine_resume(lua_State *L);
int lua_coroutine_wrap(lua_State *L);
int lua_coroutine_close(lua_State *L); /* the upvalue is Lua's own function */
int lua_coroutine_yield(lua_State *L);
int lua_coroutine_isyieldable(lua_State *L);
int lua_coroutine_running(lua_State *L);

#endif
