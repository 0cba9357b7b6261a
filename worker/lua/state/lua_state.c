/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_state.c - the allocator of the Lua state and of memory that counts for the
 * template. At the limit an allocation returns NULL, and Lua raises an error; outside of
 * any pcall the process aborts.
 */
#include "worker/lua/state/lua_state.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

#include "worker/memory.h"

#define BLOCK_OVERHEAD 16u /* bytes, roughly, that malloc adds */
#define CALLS_DEEP 4	   /* calls of the worker's own code */
#define RESERVE 262144u	   /* bytes for the report of a failed run */

/*
 * The first garbage collection of a worker starts at ten times the initial memory, since
 * a cycle writes to every object, and so copies every page shared with the zygote.
 */
#define GC_PAUSE_SPAWNED 1000 /* percent */
#define GC_PAUSE 200
#define GC_STEP_MUL 200

static struct {
	size_t used;
	size_t limit;	/* or 0 */
	size_t reserve; /* beyond the limit */
	size_t refused;
} mem MEMORY_EACH_RUN;

static size_t charge(size_t bytes)
{
	return bytes > 0 ? bytes + BLOCK_OVERHEAD : 0;
}

static void *resize(void *p, size_t old, size_t new)
{
	size_t was = charge(old), is = charge(new);
	size_t limit = mem.limit + mem.reserve;
	void *q;

	if (new == 0) {
		free(p);
		mem.used -= was;
		return NULL;
	}
	if (is > was && mem.limit != 0 &&
	    (mem.used > limit || is - was > limit - mem.used)) {
		mem.refused = mem.used + (is - was);
		return NULL;
	}
	q = realloc(p, new);
	if (q == NULL) {
		mem.refused = mem.used + is;
		/* Lua relies on shrinking to succeed */
		return new <= old ? p : NULL;
	}
	mem.used += is - was;
	return q;
}

/* lua_Alloc: OLD is not a size when P is NULL. */
static void *on_alloc(void *arg, void *p, size_t old, size_t new)
{
	(void)arg;
	return resize(p, p == NULL ? 0 : old, new);
}

void *lua_state_alloc(size_t bytes)
{
	return resize(NULL, 0, bytes);
}

void lua_state_free(void *p, size_t bytes)
{
	if (p != NULL)
		resize(p, bytes, 0);
}

size_t lua_state_used(void)
{
	return mem.used;
}

size_t lua_state_refused(void)
{
	return mem.refused;
}

size_t lua_state_allowed(void)
{
	return mem.limit;
}

void lua_state_reserve(void)
{
	mem.reserve = RESERVE;
}

/* An error outside of any pcall: a bug of the worker, or no memory in the zygote. */
static int on_panic(lua_State *L)
{
	(void)L;
	abort();
}

/* Call deep once, so that Lua allocates the frames for later calls. */
static int call_deep(lua_State *L)
{
	lua_Integer depth = lua_tointeger(L, 1);

	lua_pushcfunction(L, call_deep);
	lua_pushinteger(L, depth - 1);
	if (depth > 0)
		lua_call(L, 1, 0);
	return 0;
}

/*
 * Make a state whose calls run in a separate thread, called deeply before the libraries
 * load: so all memory that a call writes lies together, and beside the state itself,
 * while the main thread's memory would lie among memory that is only read.
 */
lua_State *lua_state_new(lua_CFunction open)
{
	lua_State *L, *T;

	memory_begin_page();
	L = lua_newstate(on_alloc, NULL);
	if (L == NULL)
		return NULL;
	lua_atpanic(L, on_panic);
	T = lua_newthread(L);
	lua_pushcfunction(T, call_deep);
	lua_pushinteger(T, CALLS_DEEP);
	lua_call(T, 1, 0);
	/* code that asks for the main thread gets T, the running thread */
	lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
	lua_pushcfunction(L, open);
	if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
		lua_close(L);
		return NULL;
	}
	lua_gc(L, LUA_GCINC, GC_PAUSE_SPAWNED, GC_STEP_MUL, 0);
	lua_gc(L, LUA_GCCOLLECT);
	return T;
}

void lua_state_limit(lua_State *L, size_t bytes)
{
	mem.limit = bytes;
	mem.refused = mem.reserve = 0;
	lua_gc(L, LUA_GCINC, GC_PAUSE, GC_STEP_MUL, 0);
}
