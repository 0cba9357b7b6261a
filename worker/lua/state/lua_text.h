/* SPDX-License-Identifier: Apache-2.0 */
/* lua_text.h - values as text that shows no address. */
#ifndef WORKER_LUA_LUA_TEXT_H
#define WORKER_LUA_LUA_TEXT_H

#include <lua.h>

/*
 * Push the value at IDX as tostring() gives it. A __tostring of the
 * template's may run and raise.
 */
void lua_text_push(lua_State *L, int idx);

#endif
