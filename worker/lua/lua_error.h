/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_error.h - errors with a code, and their kinds.
 *
 * A typed error is a table {code=, message=, details=}. Its metatable says of
 * which kind it is, and a table of ours which step raised it: a template can
 * read or change neither, so it cannot pass its own error off as another kind.
 */
#ifndef WORKER_LUA_LUA_ERROR_H
#define WORKER_LUA_LUA_ERROR_H

#include <lua.h>
#include <stdbool.h>

enum lua_error_kind {
	LUA_ERROR_PLAIN,     /* anything else that was raised */
	LUA_ERROR_TYPED,     /* run.error() */
	LUA_ERROR_STEP,	     /* of a step that failed for good */
	LUA_ERROR_CANCELLED, /* the run is being cancelled */
	/*
	 * a limit of the run or the server: its code is the run's, and its
	 * details name the limit
	 */
	LUA_ERROR_LIMIT,
	LUA_ERROR_MEMORY, /* the memory limit */
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
 * The error is on top, STATUS is the pcall's: push its code and then its
 * message, both strings. A metamethod of the template's may run, protected.
 */
enum lua_error_kind lua_error_explain(lua_State *L, int status);

/*
 * Let the error of KIND at ERR, with its code and message pushed by
 * lua_error_explain(), leave the step whose name is the string at NAME:
 * replaces all three by the error that the step raises. An error that left a
 * step before keeps the name of that one.
 */
void lua_error_leave_step(lua_State *L, enum lua_error_kind kind, int err,
			  int name);

/* Push the name of the step that raised the value at IDX, or nil. */
void lua_error_push_step(lua_State *L, int idx);

#endif
