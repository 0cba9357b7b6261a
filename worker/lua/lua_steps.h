/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_steps.h - run.step(), and the part shared with run.map(): attempts, retries,
 * timeouts, and the error of a failed step.
 */
#ifndef WORKER_LUA_LUA_STEPS_H
#define WORKER_LUA_LUA_STEPS_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

struct lua_step_options {
	lua_Integer retries; /* additional attempts */
	/* before the first retry; doubles each time */
	lua_Integer backoff_ms;
	lua_Integer timeout_ms; /* of each attempt; 0: none */
	/* of run.step(): a failed step is skipped, and raises all the same */
	bool optional;
};

/*
 * Called when the step is over: return as a lua_CFunction does, or raise. OK: the results
 * are all values above BASE. Else the value is the error, which has left the step
 * already.
 */
typedef int lua_step_finish(lua_State *L, bool ok, int base);

void lua_steps_open(lua_State *L);
/* The run is over; the next run of a resident has steps of its own. */
void lua_steps_forget(void);

int lua_steps_step(lua_State *L); /* the function run.step */

/* Read an option, whose value stays on top; false: KEY is no option of steps. */
bool lua_steps_option(lua_State *L, struct lua_step_options *o,
		      const char *key);

/*
 * From a lua_CFunction: run the declared STEP. The stack has the value pushed by
 * lua_steps_new(), the step's name, the function and NARGS arguments.
 * For "return lua_steps_run();".
 */
int lua_steps_run(lua_State *L, uint32_t step, int nargs);

/*
 * Push a step that runs with O and ends by FINISH; NAME (a string of LEN bytes) matters
 * only with a timeout. The pushed value has a user value for FINISH, which finds the step
 * at index 1.
 */
void lua_steps_new(lua_State *L, const struct lua_step_options *o,
		   lua_step_finish *finish, const char *name, size_t len);

/* Raise unless a task runs: the run may be over, or not begun. */
void lua_steps_need_task(lua_State *L);

#endif
