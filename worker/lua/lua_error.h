/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_error.h - errors with a code, and whose fault they are.
 *
 * A typed error is a table {code=, message=, details=}. What kind it is lies
 * in its metatable, and the step that raised it in a table of ours: neither
 * can be had or changed by a template, so a template cannot call its own
 * error by another name.
 */
#ifndef WORKER_LUA_LUA_ERROR_H
#define WORKER_LUA_LUA_ERROR_H

#include <lua.h>
#include <stdbool.h>

enum lua_error_kind {
	LUA_ERROR_PLAIN,     /* anything else that was raised */
	LUA_ERROR_TYPED,     /* run.error() */
	LUA_ERROR_STEP,	     /* what a step raises that failed for good */
	LUA_ERROR_CANCELLED, /* the run is to end */
	LUA_ERROR_LIMIT,     /* of the run, or what the server cannot keep: its
				code is the run's, and details name a limit */
	LUA_ERROR_MEMORY,    /* that one */
	LUA_ERROR_KINDS
};

#define LUA_ERROR_CODE_MAX 128u /* bytes */

void lua_error_open(lua_State *L);

/* Push an error of KIND; its details are nil. */
void lua_error_push(lua_State *L, enum lua_error_kind kind, const char *code,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Each raises; the return value is for "return lua_error_…(L);". */
int lua_error_cancelled(lua_State *L);
int lua_error_memory(lua_State *L);

/*
 * What was raised is on top, STATUS is the pcall's: push its code and then
 * its message, both strings. A metamethod of the template's may run,
 * protected.
 */
enum lua_error_kind lua_error_explain(lua_State *L, int status);

/* The kind of the value at IDX. */
enum lua_error_kind lua_error_kind_of(lua_State *L, int idx);

/*
 * The error of KIND at ERR, and its code and message pushed by explain,
 * leave the step whose name is the string at NAME: replace all three by what
 * the step raises. An error that already left a step remembers that one.
 */
void lua_error_leave_step(lua_State *L, enum lua_error_kind kind, int err,
			  int name);

/* Push the name of the step that raised the value at IDX, or nil. */
void lua_error_push_step(lua_State *L, int idx);

#endif
