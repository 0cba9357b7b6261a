/* SPDX-License-Identifier: Apache-2.0 */
/* lua_http.h - run.http(): requests of a run with network. */
#ifndef WORKER_LUA_LUA_HTTP_H
#define WORKER_LUA_LUA_HTTP_H

#include <lua.h>

int lua_http_http(lua_State *L);

#endif
