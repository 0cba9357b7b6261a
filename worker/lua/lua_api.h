/* SPDX-License-Identifier: Apache-2.0 */
/* lua_api.h - the table run of templates. */
#ifndef WORKER_LUA_LUA_API_H
#define WORKER_LUA_LUA_API_H

#include <lua.h>
#include <stdbool.h>

#include "ipc/msg.h"

int lua_api_open(lua_State *L); /* in the zygote: fills a new state */

/* In the worker: set the names, times and limits of the run from R. */
void lua_api_begin(lua_State *L, const struct msg_run *r);

void lua_api_push(lua_State *L);

/* Is the value at IDX a reply of run.reply()? */
bool lua_api_is_reply(lua_State *L, int idx);

/* ---- lua_ask.c: run.elicit(), run.sample(), run.roots() and run.call() ---- */

/* Questions to the client and the server. The task waits; other tasks continue. */
int lua_ask_elicit(lua_State *L);
int lua_ask_sample(lua_State *L);
int lua_ask_roots(lua_State *L);
int lua_ask_call(lua_State *L);
int lua_ask_template(lua_State *L);
int lua_ask_search(lua_State *L);

/* ---- lua_map.c ---- */

int lua_map_map(
    lua_State *L); /* run.map(): a list's items as steps, a few at a time */

#endif
