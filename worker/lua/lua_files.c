/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_files.c - puts the files of a run into the inputs, for lua_job.c. The supervisor
 * made pointers and sizes: a wrong value ends the worker. A lack of memory raises Lua's
 * own error.
 */
#include "worker/lua/lua_files.h"

#include <lauxlib.h>
#include <string.h>

/* Push the part of a JSON Pointer from P to END, unescaped. */
static void push_part(lua_State *L, const char *p, const char *end)
{
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (; p < end; p++) {
		if (*p == '~' && p + 1 < end && (p[1] == '0' || p[1] == '1'))
			luaL_addchar(&b, *++p == '0' ? '~' : '/');
		else
			luaL_addchar(&b, *p);
	}
	luaL_pushresult(&b);
}

/* Convert the part on top to the key in the table below: an index counts from 1. */
static void fit_part(lua_State *L)
{
	int is_index = 0;
	lua_Integer i;

	lua_pushvalue(L, -1);
	if (lua_rawget(L, -3) != LUA_TNIL) {
		lua_pop(L, 1);
		return;
	}
	lua_pop(L, 1);
	i = lua_tointegerx(L, -1, &is_index);
	if (!is_index)
		return;
	lua_pop(L, 1);
	lua_pushinteger(L, i + 1);
}

/* Set the value at F's pointer in the table on top. */
static bool put_one(lua_State *L, const struct file_part *f)
{
	const char *p = f->label.p, *end = p + f->label.n;
	int top = lua_gettop(L);
	bool good = true;

	lua_pushvalue(L, -1);
	while (good && p < end) {
		const char *next = memchr(p + 1, '/', (size_t)(end - p - 1));

		good = *p == '/' && lua_istable(L, -1);
		if (!good)
			break;
		push_part(L, p + 1, next != NULL ? next : end);
		fit_part(L);
		p = next != NULL ? next : end;
		if (p == end) {
			lua_pushlstring(L, f->data.p, f->data.n);
			lua_rawset(L, -3);
		} else {
			lua_rawget(L, -2);
			lua_remove(L, -2);
		}
	}
	lua_settop(L, top);
	return good;
}

bool lua_files_put(lua_State *L, struct str files)
{
	struct file_part f;

	while (files.n > 0)
		if (!file_part_next(&files, &f) || !put_one(L, &f))
			return false;
	return true;
}
