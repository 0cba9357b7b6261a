/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded value must encode to a text that decodes to the same text again. */
#include <lauxlib.h>
#include <lua.h>

#include "tests/fuzz/fuzz.h"
#include "worker/lua/json/lua_json.h"
#include "worker/lua/lua_api.h"
#include "worker/lua/state/lua_state.h"

#define MEMORY_MAX (32u << 20) /* bytes of Lua's: no text may claim more */

static int decode(lua_State *L)
{
	size_t n;
	const char *p = lua_tolstring(L, 1, &n);

	lua_json_decode(L, p, n);
	return 1;
}

static int encode(lua_State *L)
{
	size_t n;

	if (!lua_json_encode(L, 1, SIZE_MAX, &n) || n != lua_rawlen(L, -1))
		abort();
	return 1;
}

/*
 * Replace the value on top of the stack by the result of FN. The status of lua_pcall().
 */
static int call(lua_State *L, lua_CFunction fn)
{
	lua_pushcfunction(L, fn);
	lua_insert(L, -2);
	return lua_pcall(L, 1, 1, 0);
}

static void must(lua_State *L, lua_CFunction fn)
{
	if (call(L, fn) != LUA_OK)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static lua_State *L;

	if (L == NULL) {
		L = lua_state_new(lua_api_open);
		if (L == NULL)
			abort();
		lua_state_limit(L, MEMORY_MAX);
	}
	lua_pushlstring(L, (const char *)data, size);
	if (call(L, decode) == LUA_OK) {
		must(L, encode);
		lua_pushvalue(L, -1);
		must(L, decode);
		must(L, encode);
		if (!lua_rawequal(L, -1, -2))
			abort();
	}
	lua_settop(L, 0);
	return 0;
}
