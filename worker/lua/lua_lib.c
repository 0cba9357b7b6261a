/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_lib.c - Lua's standard libraries for templates, opened in the zygote: without
 * files, processes and binary chunks, with output to the log, and without addresses in
 * texts. Wrong arguments raise as in Lua itself.
 */
#include "worker/lua/lua_lib.h"

#include <lauxlib.h>
#include <lualib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "worker/lua/lua_coroutine.h"
#include "worker/lua/state/lua_text.h"
#include "worker/progress.h"
#include "worker/report.h"
#include "worker/text.h"

enum { LEVEL_WARNING = 4, LEVEL_INFO = 6 };

/* the address is the registry's key of Lua's function */
static char randomseed;

void lua_lib_log(unsigned level, const char *p, size_t n)
{
	progress_tick();
	report_log(level, p, n);
}

static int lib_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_text_push(L, 1);
	return 1;
}

/* Push the texts of all arguments, separated by SEP. */
static const char *join(lua_State *L, const char *sep, size_t *len)
{
	int n = lua_gettop(L);
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (int i = 1; i <= n; i++) {
		if (i > 1)
			luaL_addstring(&b, sep);
		lua_text_push(L, i);
		luaL_addvalue(&b);
	}
	luaL_pushresult(&b);
	return lua_tolstring(L, -1, len);
}

static int lib_print(lua_State *L)
{
	size_t n;
	const char *p = join(L, "\t", &n);

	lua_lib_log(LEVEL_INFO, p, n);
	return 0;
}

static int lib_warn(lua_State *L)
{
	size_t n;
	const char *p = join(L, "", &n);

	lua_lib_log(LEVEL_WARNING, p, n);
	return 0;
}

/* Load text only: Lua does not check binary chunks, which could take over the worker. */
static int lib_load(lua_State *L)
{
	const char *mode = luaL_optstring(L, 3, "t");

	if (strchr(mode, 't') == NULL)
		return luaL_error(L, "load takes text only, not mode '%s'",
				  mode);
	if (lua_gettop(L) < 3)
		lua_settop(L, 3);
	lua_pushliteral(L, "t");
	lua_replace(L, 3);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

static int lib_collectgarbage(lua_State *L)
{
	const char *what = luaL_optstring(L, 1, "collect");

	if (strcmp(what, "count") != 0)
		return luaL_error(L,
				  "collectgarbage(\"%s\") is not available, "
				  "only \"count\" is",
				  what);
	lua_pushnumber(L, lua_gc(L, LUA_GCCOUNT) +
			      lua_gc(L, LUA_GCCOUNTB) / 1024.0);
	return 1;
}

static bool has_text(lua_State *L, int idx)
{
	switch (lua_type(L, idx)) {
	case LUA_TNONE: /* string.format raises */
	case LUA_TNIL:
	case LUA_TBOOLEAN:
	case LUA_TNUMBER:
	case LUA_TSTRING:
		return true;
	default:
		return false;
	}
}

/*
 * Replace arguments by texts, since %p, and %s by Lua's own tostring, would show
 * addresses. FMT is a copy of the format.
 */
static void hide_addresses(lua_State *L, char *fmt)
{
	int arg = 1;

	for (char *p = strchr(fmt, '%'); p != NULL; p = strchr(p, '%')) {
		p++;
		if (*p == '%') {
			p++;
			continue;
		}
		arg++;
		p += strspn(p, "-+ #0123456789.");
		if (*p == 'p') {
			*p = 's';
			luaL_checkany(L, arg);
			lua_pushliteral(L, "(address)");
			lua_replace(L, arg);
		} else if (*p == 's' && !has_text(L, arg)) {
			lua_text_push(L, arg);
			lua_replace(L, arg);
		}
	}
}

static bool may_show_address(lua_State *L, const char *fmt)
{
	if (strchr(fmt, 'p') != NULL)
		return true;
	for (int i = 2; i <= lua_gettop(L); i++)
		if (!has_text(L, i))
			return true;
	return false;
}

static int lib_format(lua_State *L)
{
	size_t n;
	const char *fmt = luaL_checklstring(L, 1, &n);

	/* a NUL would hide the rest of the format */
	luaL_argcheck(L, strlen(fmt) == n, 1, "format contains a NUL");
	if (may_show_address(L, fmt)) {
		char *copy = lua_newuserdatauv(L, n + 1, 0);

		memcpy(copy, fmt, n + 1);
		/* below the arguments, to keep the copy alive */
		lua_insert(L, 1);
		lua_remove(L, 2);
		hide_addresses(L, copy);
		lua_pushlstring(L, copy, n);
		lua_replace(L, 1);
	}
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

/*
 * Without arguments Lua's own function would seed by an address, and return the address.
 */
static int lib_randomseed(lua_State *L)
{
	lua_Integer n[2] = {0};

	if (lua_gettop(L) == 0) {
		if (getrandom(n, sizeof(n), 0) != (ssize_t)sizeof(n))
			luaL_error(L, "no random numbers are to be had");
		lua_pushinteger(L, n[0]);
		lua_pushinteger(L, n[1]);
	}
	lua_rawgetp(L, LUA_REGISTRYINDEX, &randomseed);
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 0);
	return 0;
}

void lua_lib_seed(lua_State *L)
{
	lua_pushcfunction(L, lib_randomseed);
	lua_call(L, 0, 0);
}

static const luaL_Reg libraries[] = {
    {LUA_GNAME, luaopen_base},	     {LUA_STRLIBNAME, luaopen_string},
    {LUA_TABLIBNAME, luaopen_table}, {LUA_MATHLIBNAME, luaopen_math},
    {LUA_UTF8LIBNAME, luaopen_utf8}, {LUA_COLIBNAME, luaopen_coroutine},
};

/* Functions that are replaced, or removed (NULL). */
static const struct {
	const char *library;
	const char *name;
	lua_CFunction fn; /* the upvalue is the original */
} replaced[] = {
    {LUA_GNAME, "print", lib_print},
    {LUA_GNAME, "warn", lib_warn},
    {LUA_GNAME, "tostring", lib_tostring},
    {LUA_GNAME, "load", lib_load},
    {LUA_GNAME, "collectgarbage", lib_collectgarbage},
    {LUA_GNAME, "dofile", NULL},
    {LUA_GNAME, "loadfile", NULL},
    {LUA_STRLIBNAME, "format", lib_format},
    {LUA_STRLIBNAME, "dump", NULL},
    {LUA_MATHLIBNAME, "randomseed", lib_randomseed},
    {LUA_COLIBNAME, "resume", lua_coroutine_resume},
    {LUA_COLIBNAME, "wrap", lua_coroutine_wrap},
    {LUA_COLIBNAME, "close", lua_coroutine_close},
    {LUA_COLIBNAME, "yield", lua_coroutine_yield},
    {LUA_COLIBNAME, "isyieldable", lua_coroutine_isyieldable},
    {LUA_COLIBNAME, "running", lua_coroutine_running},
};

static void open_os(lua_State *L)
{
	static const char *const kept[] = {"time", "clock", "date", "difftime"};

	lua_createtable(L, 0, ARRAY_LEN(kept));
	lua_pushcfunction(L, luaopen_os);
	lua_call(L, 0, 1);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		lua_getfield(L, -1, kept[i]);
		lua_setfield(L, -3, kept[i]);
	}
	lua_pop(L, 1);
	lua_setglobal(L, LUA_OSLIBNAME);
}

void lua_lib_open(lua_State *L)
{
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
		luaL_requiref(L, libraries[i].name, libraries[i].func, true);
		lua_pop(L, 1);
	}
	lua_getglobal(L, LUA_MATHLIBNAME);
	lua_getfield(L, -1, "randomseed");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &randomseed);
	lua_pop(L, 1);
	for (size_t i = 0; i < ARRAY_LEN(replaced); i++) {
		lua_getglobal(L, replaced[i].library);
		if (replaced[i].fn == NULL) {
			lua_pushnil(L);
		} else {
			lua_getfield(L, -1, replaced[i].name);
			lua_pushcclosure(L, replaced[i].fn, 1);
		}
		lua_setfield(L, -2, replaced[i].name);
		lua_pop(L, 1);
	}
	open_os(L);
}
