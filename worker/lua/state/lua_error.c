/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_error.c - errors with a code, for the run API, steps and the outcome. The error for
 * lack of memory is made in advance, since no memory may be left then; all other
 * functions may raise as any Lua call.
 */
#include "worker/lua/state/lua_error.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "worker/lua/state/lua_state.h"
#include "worker/lua/state/lua_text.h"
#include "worker/text.h"

#define MESSAGE_MAX 512 /* bytes of the API's own messages */

static const char no_memory[] = "not enough memory"; /* Lua's message */
static const char no_memory_code[] = "RESOURCE_LIMIT";

/* The addresses are keys of the registry. */
static char kinds[LUA_ERROR_KINDS];
static char memory_error;
static char step_names; /* error -> name of the step; weak keys */

static int to_text(lua_State *L)
{
	const char *code;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	lua_pushliteral(L, "code");
	lua_rawget(L, 1);
	lua_pushliteral(L, "message");
	lua_rawget(L, 1);
	lua_text_push(L, 3);
	code = lua_tostring(L, 2);
	if (code != NULL && strcmp(code, "ERROR") != 0)
		lua_pushfstring(L, "%s: %s", code, lua_tostring(L, 4));
	return 1;
}

/* Concatenate, since templates write "failed: " .. e. */
static int concat(lua_State *L)
{
	lua_settop(L, 2);
	lua_text_push(L, 1);
	lua_text_push(L, 2);
	lua_concat(L, 2);
	return 1;
}

void lua_error_open(lua_State *L)
{
	for (int i = LUA_ERROR_TYPED; i < LUA_ERROR_KINDS; i++) {
		lua_createtable(L, 0, 4);
		lua_pushliteral(L, "error");
		lua_setfield(L, -2, "__name");
		lua_pushcfunction(L, to_text);
		lua_setfield(L, -2, "__tostring");
		lua_pushcfunction(L, concat);
		lua_setfield(L, -2, "__concat");
		lua_pushboolean(L, false);
		lua_setfield(L, -2, "__metatable");
		lua_rawsetp(L, LUA_REGISTRYINDEX, &kinds[i]);
	}
	lua_newtable(L);
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "k");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &step_names);
	lua_error_push(L, LUA_ERROR_MEMORY, no_memory_code, "%s", no_memory);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &memory_error);
}

/* Replace the message on top by an error of KIND. */
static void wrap(lua_State *L, enum lua_error_kind kind, const char *code)
{
	lua_createtable(L, 0, 3);
	lua_insert(L, -2);
	lua_setfield(L, -2, "message");
	lua_pushstring(L, code);
	lua_setfield(L, -2, "code");
	lua_rawgetp(L, LUA_REGISTRYINDEX, &kinds[kind]);
	lua_setmetatable(L, -2);
}

void lua_error_push(lua_State *L, enum lua_error_kind kind, const char *code,
		    const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	lua_pushstring(L, message);
	wrap(L, kind, code);
}

int lua_error_cancelled(lua_State *L)
{
	lua_error_push(L, LUA_ERROR_CANCELLED, "RUN_CANCELED",
		       "the run is being cancelled");
	return lua_error(L);
}

/* Made in advance, since no memory may be left for a new error. */
int lua_error_memory(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &memory_error);
	return lua_error(L);
}

/* The kind of the value at IDX. */
static enum lua_error_kind error_kind(lua_State *L, int idx)
{
	enum lua_error_kind kind = LUA_ERROR_PLAIN;

	idx = lua_absindex(L, idx);
	if (lua_type(L, idx) != LUA_TTABLE || !lua_getmetatable(L, idx))
		return LUA_ERROR_PLAIN;
	for (int i = LUA_ERROR_TYPED; i < LUA_ERROR_KINDS; i++) {
		lua_rawgetp(L, LUA_REGISTRYINDEX, &kinds[i]);
		if (lua_rawequal(L, -1, -2))
			kind = (enum lua_error_kind)i;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return kind;
}

/* coroutine.wrap() converts the status to Lua's message. */
static bool is_memory(lua_State *L, int status)
{
	return status == LUA_ERRMEM ||
	       (lua_state_refused() > 0 && lua_type(L, -1) == LUA_TSTRING &&
		strcmp(lua_tostring(L, -1), no_memory) == 0);
}

/* Push the string field KEY of the table at IDX, else nil. */
static bool push_own(lua_State *L, int idx, const char *key)
{
	lua_pushstring(L, key);
	lua_rawget(L, idx);
	return lua_type(L, -1) == LUA_TSTRING;
}

/* Push the code of the table at IDX, or "ERROR". */
static bool push_code(lua_State *L, int idx)
{
	size_t n;
	const char *p;

	if (lua_type(L, idx) == LUA_TTABLE && push_own(L, idx, "code")) {
		p = lua_tolstring(L, -1, &n);
		if (text_is_name(p, n, LUA_ERROR_CODE_MAX))
			return true;
	}
	lua_settop(L, idx);
	lua_pushliteral(L, "ERROR");
	return false;
}

static int error_text(lua_State *L)
{
	lua_text_push(L, 1);
	return 1;
}

/* Push the message of the value at IDX, whatever the metatable does. */
static void push_message(lua_State *L, int idx, bool typed)
{
	if (typed && push_own(L, idx, "message"))
		return;
	lua_settop(L, idx + 1); /* the code stays */
	if (lua_isnil(L, idx)) {
		lua_pushliteral(L, "the template raised an error without a "
				   "message: error(nil)");
		return;
	}
	lua_pushcfunction(L, error_text);
	lua_pushvalue(L, idx);
	if (lua_pcall(L, 1, 1, 0) == LUA_OK)
		return;
	lua_pop(L, 1);
	lua_pushfstring(L, "the template raised a %s whose text cannot be had",
			luaL_typename(L, idx));
}

enum lua_error_kind lua_error_explain(lua_State *L, int status)
{
	int idx = lua_gettop(L);
	enum lua_error_kind kind = error_kind(L, idx);
	bool typed;

	if (is_memory(L, status) || kind == LUA_ERROR_MEMORY) {
		lua_pushstring(L, no_memory_code);
		lua_pushstring(L, no_memory);
		return LUA_ERROR_MEMORY;
	}
	typed = push_code(L, idx);
	push_message(L, idx, typed);
	return typed && kind == LUA_ERROR_PLAIN ? LUA_ERROR_TYPED : kind;
}

void lua_error_leave_step(lua_State *L, enum lua_error_kind kind, int err,
			  int name)
{
	if (kind == LUA_ERROR_MEMORY) {
		lua_rawgetp(L, LUA_REGISTRYINDEX, &memory_error);
	} else if (kind == LUA_ERROR_PLAIN || kind == LUA_ERROR_TYPED) {
		wrap(L, LUA_ERROR_STEP, lua_tostring(L, err + 1));
		if (lua_type(L, err) == LUA_TTABLE) {
			push_own(L, err, "details");
			lua_setfield(L, -2, "details");
		}
	} else {
		lua_pushvalue(L, err);
	}
	lua_replace(L, err);
	lua_settop(L, err);
	if (kind == LUA_ERROR_MEMORY)
		return;
	/* note that the step named at NAME raised the error, unless noted before */
	lua_rawgetp(L, LUA_REGISTRYINDEX, &step_names);
	lua_pushvalue(L, err);
	if (lua_rawget(L, -2) == LUA_TNIL) {
		lua_pushvalue(L, err);
		lua_pushvalue(L, name);
		lua_rawset(L, err + 1);
	}
	lua_settop(L, err);
}

void lua_error_push_step(lua_State *L, int idx)
{
	idx = lua_absindex(L, idx);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &step_names);
	lua_pushvalue(L, idx);
	lua_rawget(L, -2);
	lua_remove(L, -2);
}
