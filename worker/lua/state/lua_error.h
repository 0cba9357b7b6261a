/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_error.h - errors with a code, and their kinds. A typed error is a table {code=,
 * message=, details=}. The metatable has the kind, and a private table the step that
 * raised the error: a template can read or change neither, and so cannot disguise an
 * error as another kind.
 */
#ifndef WORKER_LUA_LUA_ERROR_H
#define WORKER_LUA_LUA_ERROR_H

#include <lua.h>
#include <stdbool.h>

enum lua_error_kind {
	LUA_ERROR_PLAIN,     /* any other error */
	LUA_ERROR_TYPED,     /* of run.error() */
	LUA_ERROR_STEP,	     /* of a step that finally failed */
	LUA_ERROR_CANCELLED, /* the run is being cancelled */
	/*
	 * a limit of the run or the server: the run ends with the code, and the details
	 * name the limit
	 */
	LUA_ERROR_LIMIT,
	LUA_ERROR_MEMORY, /* the memory limit */
	LUA_ERROR_KINDS
};

#define LUA_ERROR_CODE_MAX 128u /* bytes */

void lua_error_open(lua_State *L);

/* Push an error of KIND, with details nil. */
void lua_error_push(lua_State *L, enum lua_error_kind kind, const char *code,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The functions raise; the return value is for "return lua_error_NAME(L);". */
int lua_error_cancelled(lua_State *L);
int lua_error_memory(lua_State *L);

/*
 * Push the code and the message, both strings, of the error on top; STATUS is the
 * pcall's. A metamethod of the template may run, protected.
 */
enum lua_error_kind lua_error_explain(lua_State *L, int status);

/*
 * Let an error leave a step: the error of KIND at ERR, with the code and message pushed
 * by lua_error_explain(), is replaced by the error that the step named at NAME raises. An
 * error that left an inner step before keeps the name of the inner step.
 */
void lua_error_leave_step(lua_State *L, enum lua_error_kind kind, int err,
			  int name);

/* Push the name of the step that raised the value at IDX, or nil. */
void lua_error_push_step(lua_State *L, int idx);

#endif
