/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_text.c - tostring() for the libraries, the run API and errors. A
 * metamethod of the template's may raise, which is the caller's to expect.
 */
#include "worker/lua/state/lua_text.h"

#include <lauxlib.h>

void lua_text_push(lua_State *L, int idx)
{
	idx = lua_absindex(L, idx);
	switch (lua_type(L, idx)) {
	case LUA_TNIL:
	case LUA_TBOOLEAN:
	case LUA_TNUMBER:
	case LUA_TSTRING:
		(void)luaL_tolstring(L, idx, NULL);
		return;
	case LUA_TLIGHTUSERDATA: /* run.null, the only one there is */
		lua_pushliteral(L, "null");
		return;
	default:
		break;
	}
	if (luaL_callmeta(L, idx, "__tostring")) {
		if (!lua_isstring(L, -1))
			luaL_error(L, "'__tostring' must return a string");
		return;
	}
	if (luaL_getmetafield(L, idx, "__name") == LUA_TSTRING)
		return;
	lua_pushstring(L, luaL_typename(L, idx));
}
