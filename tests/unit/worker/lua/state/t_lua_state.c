/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_lua_state.c - the memory that counts for a template: the limit to the byte, the
 * reserve of a failed run, and memory that is given back.
 */
#include "worker/lua/state/lua_state.h"

#include <lauxlib.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/tap.h"

#define RESERVE 262144u

static lua_State *L;

static int open_nothing(lua_State *l)
{
	lua_pushinteger(l, 1);
	return 1;
}

static int open_badly(lua_State *l)
{
	return luaL_error(l, "no");
}

/* The limit at which BYTES more just fit. */
static size_t least(size_t bytes)
{
	lua_state_limit(L, 1);
	if (lua_state_alloc(bytes) != NULL)
		return 0;
	return lua_state_refused();
}

TEST(state)
{
	L = lua_state_new(open_badly);
	ok(L == NULL, "a state that cannot be filled is none");
	L = lua_state_new(open_nothing);
	ok(L != NULL, "a state is made");
	lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
	ok(lua_tothread(L, -1) == L,
	   "code that asks for the main thread gets the running thread");
	lua_pop(L, 1);
}

TEST(limit)
{
	size_t most = least(1000);
	void *p;

	ok(most > 1000, "an allocation over the limit is refused");
	is_int((int64_t)lua_state_allowed(), 1, "the limit is told");
	lua_state_limit(L, most - 1);
	is_int((int64_t)lua_state_refused(), 0,
	       "a new limit forgets what was refused");
	p = lua_state_alloc(1000);
	ok(p == NULL, "memory a byte over the limit is refused");
	is_int((int64_t)lua_state_refused(), (int64_t)most,
	       "the memory that would have been needed is told");
	lua_state_limit(L, most);
	p = lua_state_alloc(1000);
	ok(p != NULL, "memory up to the limit is given");
	ok(lua_state_alloc(1) == NULL, "at the limit a single byte is refused");
	lua_state_free(p, 1000);
	p = lua_state_alloc(1000);
	ok(p != NULL, "memory that is given back can be taken again");
	lua_state_free(p, 1000);
	lua_state_free(NULL, 1000);
	is_int((int64_t)least(1000), (int64_t)most,
	       "nothing that is given back gives back nothing");
}

TEST(no_limit)
{
	void *p;

	lua_state_limit(L, 0);
	p = lua_state_alloc(64 << 20);
	ok(p != NULL, "without a limit much memory is given");
	lua_state_free(p, 64 << 20);
	is_int((int64_t)lua_state_refused(), 0,
	       "without a limit none is refused");
}

/* Let tables grow and go; returns the limit at which 1000 bytes just fit then. */
static size_t after_tables(void)
{
	lua_state_limit(L, 0);
	for (int i = 0; i < 8; i++) {
		lua_newtable(L);
		for (int n = 1; n < 1000; n++) {
			lua_pushinteger(L, n);
			lua_rawseti(L, -2, n);
		}
		lua_pop(L, 1);
	}
	lua_gc(L, LUA_GCCOLLECT);
	return least(1000);
}

TEST(resized)
{
	size_t most = after_tables();

	is_int((int64_t)after_tables(), (int64_t)most,
	       "memory that grew and was freed is counted no more");
}

TEST(reserve)
{
	size_t most = least(1000);
	void *p;

	lua_state_limit(L, most - RESERVE - 1);
	lua_state_reserve();
	ok(lua_state_alloc(1000) == NULL, "the reserve has an end");
	lua_state_limit(L, most - RESERVE);
	lua_state_reserve();
	p = lua_state_alloc(1000);
	ok(p != NULL, "a failed run may use its reserve to the last byte");
	lua_state_free(p, 1000);
	lua_state_limit(L, most - 1);
	ok(lua_state_alloc(1000) == NULL, "a new run has no reserve");
}
