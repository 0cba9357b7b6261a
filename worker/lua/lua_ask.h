/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_ask.h - run.elicit(), run.sample(), run.roots() and run.call(): questions of a
 * template to the client and the server. The task waits; other tasks continue.
 */
#ifndef WORKER_LUA_LUA_ASK_H
#define WORKER_LUA_LUA_ASK_H

#include <lua.h>

int lua_ask_elicit(lua_State *L); /* the function run.elicit */
int lua_ask_sample(lua_State *L); /* the function run.sample */
int lua_ask_roots(lua_State *L);  /* the function run.roots */
int lua_ask_call(lua_State *L);	  /* the function run.call */

#endif
