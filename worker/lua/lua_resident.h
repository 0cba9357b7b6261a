/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_resident.h - a worker that stays for the next run of the same notebook: the Lua
 * state is as the run before has left the state. A cancel interrupts a run of a resident
 * at the next instruction.
 */
#ifndef WORKER_LUA_LUA_RESIDENT_H
#define WORKER_LUA_LUA_RESIDENT_H

#include <lua.h>
#include <stdbool.h>

#include "ipc/msg.h"

void lua_resident_take(
    const struct msg_stay *m); /* the next run is of a resident */
bool lua_resident_stays(void);
bool lua_resident_is_first(void); /* there was no run before, or no resident */
bool lua_resident_interrupted(
    void); /* the run is to end at once. Async-signal-safe */

/* Push run.notebook: {name=, cell=, lost=}, or nil. */
void lua_resident_push(lua_State *L);

/* The run is over, and the state is good: forget the run's questions and steps, send KEPT. */
void lua_resident_keep(void);

#endif
