/* SPDX-License-Identifier: Apache-2.0 */
/* lua_map.h - run.map(): a list's items as steps, a few at a time. */
#ifndef WORKER_LUA_LUA_MAP_H
#define WORKER_LUA_LUA_MAP_H

#include <lua.h>

int lua_map_map(lua_State *L); /* run.map */

#endif
