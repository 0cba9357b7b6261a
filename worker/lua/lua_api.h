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

#endif
