/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_json.c - run.json, run.null and run.array(), and the mark of tables that are
 * arrays. lua_api.c adds the functions to the run table. Wrong arguments raise errors.
 */
#include "worker/lua/json/lua_json.h"

#include <lauxlib.h>
#include <stdint.h>

static char array_mark; /* the address is the key of the arrays' metatable */

void lua_json_open(lua_State *L)
{
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "array");
	lua_setfield(L, -2, "__name");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &array_mark);
}

void lua_json_push_null(lua_State *L)
{
	lua_pushlightuserdata(L, NULL);
}

bool lua_json_is_null(lua_State *L, int idx)
{
	return lua_islightuserdata(L, idx) && lua_touserdata(L, idx) == NULL;
}

void lua_json_mark_array(lua_State *L, int idx)
{
	idx = lua_absindex(L, idx);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &array_mark);
	lua_setmetatable(L, idx);
}

bool lua_json_is_array(lua_State *L, int idx)
{
	bool is;

	if (!lua_getmetatable(L, idx))
		return false;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &array_mark);
	is = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return is;
}

int lua_json_array(lua_State *L)
{
	if (lua_isnoneornil(L, 1)) {
		lua_settop(L, 0);
		lua_newtable(L);
	}
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	if (!lua_json_is_array(L, 1)) {
		if (lua_getmetatable(L, 1))
			return luaL_error(L, "run.array cannot mark a table "
					     "that has a metatable");
		lua_json_mark_array(L, 1);
	}
	return 1;
}

static int encode(lua_State *L)
{
	size_t len;

	luaL_checkany(L, 1);
	lua_settop(L, 1);
	(void)lua_json_encode(L, 1, SIZE_MAX, &len);
	return 1;
}

static int json_decode(lua_State *L)
{
	size_t n;
	const char *p = luaL_checklstring(L, 1, &n);

	lua_settop(L, 1);
	lua_json_decode(L, p, n);
	return 1;
}

void lua_json_push_library(lua_State *L)
{
	static const luaL_Reg fns[] = {
	    {"encode", encode},
	    {"decode", json_decode},
	    {NULL, NULL},
	};

	luaL_newlib(L, fns);
}
