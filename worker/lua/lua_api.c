/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_api.c - the table run, an argument of a template's function. lua_job.c opens the
 * table in the zygote and fills the table in a worker. Wrong arguments raise Lua errors,
 * which end the calling run or step.
 */
#include "worker/lua/lua_api.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/clock.h"
#include "base/mem.h"
#include "ipc/msg.h"
#include "worker/channel.h"
#include "worker/lua/lua_artifact.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/json/lua_json.h"
#include "worker/lua/lua_http.h"
#include "worker/lua/lua_lib.h"
#include "worker/lua/lua_resident.h"
#include "worker/lua/lua_sched.h"
#include "worker/lua/lua_steps.h"
#include "worker/lua/state/lua_text.h"
#include "worker/progress.h"
#include "worker/signals.h"
#include "worker/steps.h"
#include "worker/text.h"
#include "worker/timers.h"

#define SLEEP_MAX_MS 604800000 /* a week: no run is that long */

static char run_table; /* the address is a key of the registry */
static char reply_mark;
static int64_t deadline_us;

static int run_deadline(lua_State *L)
{
	int64_t left = deadline_us + timers_rested_us() - clock_mono_us();

	lua_pushinteger(L, left > 0 ? left / 1000 : 0);
	return 1;
}

static int run_cancelled(lua_State *L)
{
	lua_pushboolean(L, signals_cancelled());
	return 1;
}

/* Check a count: an integer from 0 to 2^53. */
static uint64_t check_count(lua_State *L, int arg)
{
	lua_Integer v = luaL_checkinteger(L, arg);

	luaL_argcheck(L, v >= 0 && (uint64_t)v <= MSG_INT_MAX, arg,
		      "must be from 0 to 2^53");
	return (uint64_t)v;
}

static int run_progress(lua_State *L)
{
	uint64_t done = check_count(L, 1), total = check_count(L, 2);
	size_t n;
	const char *message = luaL_optlstring(L, 3, "", &n);

	lua_sched_check(L);
	progress_set(done, total, message, n);
	return 0;
}

/* Continue after run.sleep(); the wake-up time is at 1. */
static int slept(lua_State *L, int status, lua_KContext ctx)
{
	(void)status, (void)ctx;
	lua_sched_check(L);
	if (signals_cancelled() && lua_sched_current()->step == STEPS_NONE)
		return lua_error_cancelled(L);
	lua_pushboolean(L, clock_mono_us() >= lua_tointeger(L, 1));
	return 1;
}

/*
 * Cancellation wakes every sleeper. Outside of a step cancellation ends the task; within
 * a step, which may end by itself, a single sleep is shortened. Returns true if the time
 * is over.
 */
static int run_sleep(lua_State *L)
{
	lua_Number ms = luaL_checknumber(L, 1);
	struct lua_wait w = {.light = true};

	luaL_argcheck(L, ms >= 0 && ms <= SLEEP_MAX_MS, 1,
		      "must be a number of milliseconds from 0 to a week");
	lua_steps_need_task(L);
	lua_sched_check(L);
	if (signals_cancelled() && lua_sched_current()->step == STEPS_NONE)
		return lua_error_cancelled(L);
	w.until_us = clock_mono_us() + (int64_t)(ms * 1000);
	lua_settop(L, 0);
	lua_pushinteger(L, w.until_us);
	return lua_sched_wait(L, &w, 0, slept);
}

/* Levels of syslog. */
static const char *const levels[] = {"emergency", "alert",   "critical",
				     "error",	  "warning", "notice",
				     "info",	  "debug",   NULL};

static int run_log(lua_State *L)
{
	int level = luaL_checkoption(L, 1, NULL, levels);
	const char *p;
	size_t n;

	luaL_checkany(L, 2);
	lua_sched_check(L);
	lua_text_push(L, 2);
	p = lua_tolstring(L, -1, &n);
	lua_lib_log((unsigned)level, p, n);
	return 0;
}

static int run_error(lua_State *L)
{
	size_t n;
	const char *code = luaL_checklstring(L, 1, &n);

	luaL_argcheck(L, text_is_name(code, n, LUA_ERROR_CODE_MAX), 1,
		      "a code is 1 to 128 bytes of UTF-8 without control "
		      "characters");
	lua_settop(L, 3);
	lua_error_push(L, LUA_ERROR_TYPED, code, "%s", "");
	if (lua_isnil(L, 2))
		lua_pushvalue(L, 1);
	else
		lua_text_push(L, 2);
	lua_setfield(L, 4, "message");
	lua_pushvalue(L, 3);
	lua_setfield(L, 4, "details");
	return lua_error(L);
}

/* The calls that led here, a line each, as Lua's debug.traceback(). */
static int run_traceback(lua_State *L)
{
	luaL_traceback(L, L, luaL_optstring(L, 1, NULL),
		       (int)luaL_optinteger(L, 2, 1));
	return 1;
}

/* Copy the field KEY of the table at 1 to the reply at 2, if present. */
static bool move_field(lua_State *L, const char *key)
{
	lua_pushstring(L, key);
	if (lua_rawget(L, 1) == LUA_TNIL) {
		lua_pop(L, 1);
		return false;
	}
	lua_setfield(L, 2, key);
	return true;
}

static void check_reply_keys(lua_State *L)
{
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		const char *key =
		    lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";

		if (strcmp(key, "content") != 0 &&
		    strcmp(key, "structuredContent") != 0 &&
		    strcmp(key, "isError") != 0)
			luaL_error(L, "run.reply takes content, "
				      "structuredContent and isError alone, or "
				      "error alone");
		lua_pop(L, 1);
	}
}

/* Check a reply with an error instead of a result: no other field is allowed. */
static void reply_error(lua_State *L)
{
	int error;

	lua_getfield(L, 2, "error");
	error = lua_gettop(L);
	lua_pushnil(L);
	for (int keys = 1; lua_next(L, 1); keys++) {
		if (keys > 1)
			luaL_error(L, "run.reply: error is in place of a "
				      "result, and comes alone");
		lua_pop(L, 1);
	}
	lua_settop(L, error);
	if (!lua_istable(L, error))
		luaL_error(L, "run.reply: error must be a table {code=, "
			      "message=, data=}");
	if (lua_getfield(L, error, "code") != LUA_TNUMBER ||
	    !lua_isinteger(L, -1) || !msg_reply_code_ok(lua_tointeger(L, -1)))
		luaL_error(
		    L, "run.reply: error.code must be " MSG_REPLY_CODE_RULE);
	if (lua_getfield(L, error, "message") != LUA_TSTRING ||
	    lua_rawlen(L, -1) > MSG_TEXT_MAX)
		luaL_error(L,
			   "run.reply: error.message must be a string of %d "
			   "bytes at the most",
			   (int)MSG_TEXT_MAX);
}

static void reply_result(lua_State *L)
{
	check_reply_keys(L);
	if (move_field(L, "content")) {
		lua_getfield(L, 2, "content");
		if (!lua_istable(L, -1))
			luaL_error(L, "run.reply: content must be a "
				      "list of content blocks");
		if (!lua_getmetatable(L, -1))
			lua_json_mark_array(L, -1);
	}
	move_field(L, "structuredContent");
	if (move_field(L, "isError")) {
		lua_getfield(L, 2, "isError");
		if (!lua_isboolean(L, -1))
			luaL_error(L, "run.reply: isError must be true or "
				      "false");
	}
}

static int run_reply(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	lua_createtable(L, 0, 3);
	if (move_field(L, "error"))
		reply_error(L);
	else
		reply_result(L);
	lua_settop(L, 2);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &reply_mark);
	lua_setmetatable(L, 2);
	return 1;
}

bool lua_api_is_reply(lua_State *L, int idx)
{
	bool is;

	if (!lua_istable(L, idx) || !lua_getmetatable(L, idx))
		return false;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &reply_mark);
	is = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return is;
}

static int run_base64_encode(lua_State *L)
{
	size_t n;
	const char *p = luaL_checklstring(L, 1, &n);
	luaL_Buffer b;
	char *out = luaL_buffinitsize(L, &b, BASE64_LEN(n));

	base64_encode(out, p, n);
	luaL_pushresultsize(&b, BASE64_LEN(n));
	return 1;
}

static int run_base64_decode(lua_State *L)
{
	size_t n;
	const char *p = luaL_checklstring(L, 1, &n);
	luaL_Buffer b;
	char *out = luaL_buffinitsize(L, &b, n / 4 * 3 + 1);

	if (base64_decode(out, &n, p, n) < 0)
		return luaL_error(L, "not base64 (RFC 4648, section 4, "
				     "padded, without white space)");
	luaL_pushresultsize(&b, n);
	return 1;
}

static const luaL_Reg calls[] = {
    {"deadline", run_deadline},
    {"cancelled", run_cancelled},
    {"progress", run_progress},
    {"sleep", run_sleep},
    {"log", run_log},
    {"error", run_error},
    {"reply", run_reply},
    {"step", lua_steps_step},
    {"map", lua_map_map},
    {"artifact", lua_artifact_artifact},
    {"array", lua_json_array},
    {"elicit", lua_ask_elicit},
    {"sample", lua_ask_sample},
    {"roots", lua_ask_roots},
    {"call", lua_ask_call},
    {"search", lua_ask_search},
    {"http", lua_http_http},
    {"traceback", run_traceback},
    {NULL, NULL},
};

static const luaL_Reg base64[] = {
    {"encode", run_base64_encode},
    {"decode", run_base64_decode},
    {NULL, NULL},
};

/* Called for a call of any string: run.template is the template's id, and a function. */
static int call_string(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &run_table);
	lua_pushliteral(L, "template");
	lua_rawget(L, -2);
	if (!lua_rawequal(L, -1, 1))
		return luaL_error(L, "attempt to call a string value");
	lua_pop(L, 2);
	lua_remove(L, 1);
	return lua_ask_template(L);
}

int lua_api_open(lua_State *L)
{
	lua_error_open(L);
	lua_json_open(L);
	lua_lib_open(L);
	lua_steps_open(L);
	lua_createtable(L, 0, 1);
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &reply_mark);

	luaL_newlib(L, calls);
	lua_json_push_null(L);
	lua_setfield(L, -2, "null");
	lua_json_push_library(L);
	lua_setfield(L, -2, "json");
	luaL_newlib(L, base64);
	lua_setfield(L, -2, "base64");
	/* allocates the fields, to avoid a rehash later */
	lua_pushliteral(L, "");
	lua_setfield(L, -2, "id");
	lua_pushliteral(L, "");
	lua_setfield(L, -2, "template");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &run_table);
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_pushcfunction(L, call_string);
	lua_setfield(L, -2, "__call");
	return 0;
}

void lua_api_push(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &run_table);
}

/* Set KEY of the table below the value on top, whatever an earlier run made of the table. */
static void set_raw(lua_State *L, const char *key)
{
	lua_pushstring(L, key);
	lua_insert(L, -2);
	lua_rawset(L, -3);
}

void lua_api_begin(lua_State *L, const struct msg_run *r)
{
	deadline_us = clock_mono_us() + (int64_t)r->timeout_ms * 1000 -
		      timers_rested_us();
	lua_artifact_limit(r->artifact_bytes);
	steps_set_grace_ms((int64_t)r->cancel_grace_ms);
	lua_api_push(L);
	lua_pushlstring(L, r->run_id.p, r->run_id.n);
	set_raw(L, "id");
	lua_pushlstring(L, r->template_id.p, r->template_id.n);
	set_raw(L, "template");
	lua_resident_push(L);
	set_raw(L, "notebook");
	lua_pop(L, 1);
}
