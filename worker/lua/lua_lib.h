/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_lib.h - the standard libraries, without what reaches out of the state or
 * shows an address.
 */
#ifndef WORKER_LUA_LUA_LIB_H
#define WORKER_LUA_LUA_LIB_H

#include <lua.h>
#include <stdint.h>

void lua_lib_open(lua_State *L);

/* Seed math.random in the worker: all would have the same numbers. */
void lua_lib_seed(lua_State *L);

/* Send a LOG message. LEVEL is syslog's. */
void lua_lib_log(unsigned level, const char *p, size_t n);

#endif
