/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_coroutine.c - functions of the library of coroutines, for lua_lib.c. Errors are as
 * in Lua itself.
 */
#include "worker/lua/lua_coroutine.h"

#include <lauxlib.h>
#include <stdbool.h>

#include "worker/lua/lua_sched.h"

static lua_State *check_coroutine(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTHREAD);
	return lua_tothread(L, 1);
}

/*
 * Continue CO with the N values on top of L. True: *RESULTS values of CO are on top. False:
 * the error is on top, with the status in *STATUS.
 */
static bool go_on(lua_State *L, lua_State *co, int n, int *results, int *status)
{
	lua_State *before;

	*status = LUA_ERRRUN;
	if (!lua_checkstack(co, n)) {
		lua_pushliteral(L, "too many arguments to resume");
		return false;
	}
	lua_xmove(L, co, n);
	before = lua_sched_enter(co);
	*status = lua_resume(co, L, n, results);
	(void)lua_sched_enter(before);
	if (*status != LUA_OK && *status != LUA_YIELD) {
		lua_xmove(co, L, 1);
		return false;
	}
	if (!lua_checkstack(L, *results + 1)) {
		lua_pop(co, *results);
		lua_pushliteral(L, "too many results to resume");
		*status = LUA_ERRRUN;
		return false;
	}
	lua_xmove(co, L, *results);
	return true;
}

int lua_coroutine_resume(lua_State *L)
{
	lua_State *co = check_coroutine(L);
	int n, status;
	bool good = go_on(L, co, lua_gettop(L) - 1, &n, &status);

	if (!good)
		n = 1;
	lua_pushboolean(L, good);
	lua_insert(L, -(n + 1));
	return n + 1;
}

/* Call the coroutine in the upvalue, which an error closes. */
static int wrapped(lua_State *L)
{
	lua_State *co = lua_tothread(L, lua_upvalueindex(1));
	int n, status;

	if (go_on(L, co, lua_gettop(L), &n, &status))
		return n;
	if (lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD) {
		lua_State *before = lua_sched_enter(co);

		status = lua_resetthread(co);
		(void)lua_sched_enter(before);
		lua_xmove(co, L, 1); /* perhaps of a variable that was closed */
	}
	if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
		luaL_where(L, 1);
		lua_insert(L, -2);
		lua_concat(L, 2);
	}
	return lua_error(L);
}

int lua_coroutine_wrap(lua_State *L)
{
	lua_State *co;

	luaL_checktype(L, 1, LUA_TFUNCTION);
	co = lua_newthread(L);
	lua_pushvalue(L, 1);
	lua_xmove(L, co, 1);
	lua_pushcclosure(L, wrapped, 1);
	return 1;
}

int lua_coroutine_close(lua_State *L)
{
	lua_State *before = lua_sched_enter(check_coroutine(L));
	int rc;

	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	rc = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
	(void)lua_sched_enter(before);
	return rc == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* A task may not yield, like the main program in plain Lua. */
int lua_coroutine_yield(lua_State *L)
{
	if (lua_sched_is_task(L))
		return luaL_error(L,
				  "attempt to yield from outside a coroutine");
	return lua_yield(L, lua_gettop(L));
}

int lua_coroutine_isyieldable(lua_State *L)
{
	lua_State *co = lua_isthread(L, 1) ? lua_tothread(L, 1) : L;

	lua_pushboolean(L, !lua_sched_is_task(co) && lua_isyieldable(co));
	return 1;
}

int lua_coroutine_running(lua_State *L)
{
	bool main = lua_sched_is_task(L);

	if (main)
		lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
	else
		lua_pushthread(L);
	lua_pushboolean(L, main);
	return 2;
}
