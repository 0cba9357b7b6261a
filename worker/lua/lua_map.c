/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_map.c - run.map(), from lua_api.c: each item is a step that lua_steps.c runs in a
 * separate task. A failed item is a result; lack of memory or too deep calls raise once
 * all tasks are over.
 */
#include "worker/lua/lua_api.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "ipc/msg.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/json/lua_json.h"
#include "worker/lua/lua_sched.h"
#include "worker/lua/lua_steps.h"
#include "worker/signals.h"
#include "worker/steps.h"
#include "worker/text.h"

#define CONCURRENCY_DEFAULT 4
#define CONCURRENCY_MAX 1000
#define STEP_DEFAULT "item"
#define STEP_BYTES_MAX (MSG_NAME_MAX - sizeof("[10000]"))

/* Indexes of the user values of a map. */
enum { OF_ITEMS = 1, OF_RESULTS, OF_FUNCTION, OF_NAME, OF_THREADS };

struct map {
	lua_Integer n;
	lua_Integer next; /* number of items begun */
	lua_Integer busy; /* number of tasks not over */
	uint32_t first;	  /* the step of the first item */
	uint32_t around;  /* the step around the map */
	/* status of a task that failed by another error than the item's */
	int broken;
	lua_Integer slots;
	struct lua_step_options options;
	struct lua_task tasks[]; /* a task for each item that runs at once */
};

/* Set {ok=true, value=VALUE} or {ok=false, error={code=, message=}} in the results. */
static int finish_item(lua_State *L, bool ok, int base)
{
	lua_Integer i = lua_tointeger(L, base); /* the last argument */

	lua_settop(L, base + 1);
	if (!ok) {
		lua_error_explain(L, LUA_OK);
		lua_createtable(L, 0, 2);
		lua_insert(L, base + 2);
		lua_setfield(L, base + 2, "message");
		lua_setfield(L, base + 2, "code");
		lua_replace(L, base + 1);
	}
	lua_createtable(L, 0, 2);
	lua_insert(L, base + 1);
	lua_setfield(L, base + 1, ok ? "value" : "error");
	lua_pushboolean(L, ok);
	lua_setfield(L, base + 1, "ok");
	lua_getiuservalue(L, 1, 1);
	lua_getiuservalue(L, -1, OF_RESULTS);
	lua_insert(L, base + 1);
	lua_settop(L, base + 2);
	lua_rawseti(L, base + 1, i);
	return 0;
}

/* The function of a task; the arguments are the map and the item's number. */
static int run_item(lua_State *L)
{
	struct map *m = lua_touserdata(L, 1);
	lua_Integer i = lua_tointeger(L, 2);
	const char *name;
	size_t n;

	lua_getiuservalue(L, 1, OF_NAME);
	lua_pushfstring(L, "%s[%I]", lua_tostring(L, -1), (LUAI_UACINT)i);
	name = lua_tolstring(L, -1, &n);
	lua_steps_new(L, &m->options, finish_item, name, n);
	lua_pushvalue(L, 1);
	lua_setiuservalue(L, -2, 1);
	lua_insert(L, -2);
	lua_getiuservalue(L, 1, OF_FUNCTION);
	lua_getiuservalue(L, 1, OF_ITEMS);
	lua_rawgeti(L, -1, i);
	lua_remove(L, -2);
	lua_pushinteger(L, i);
	lua_rotate(L, 1, 5); /* step, name, function, item, number; the rest */
	lua_settop(L, 5);
	return lua_steps_run(L, m->first + (uint32_t)i - 1, 2);
}

/* Give the next item to T, whose coroutine has only the map on the stack. */
static bool next_item(struct map *m, struct lua_task *t)
{
	if (m->next == m->n || m->broken != LUA_OK || signals_cancelled() ||
	    (m->around != STEPS_NONE && steps_timed_out(m->around)))
		return false;
	t->step = m->around;
	t->nargs = 2;
	lua_pushcfunction(t->L, run_item);
	lua_pushvalue(t->L, 1);
	lua_pushinteger(t->L, ++m->next);
	return true;
}

static void on_over(struct lua_task *t)
{
	struct map *m = t->arg;

	if (t->status != LUA_OK)
		m->broken = t->status;
	else
		lua_settop(t->L, 1);
	if (next_item(m, t)) {
		lua_sched_again(t);
		return;
	}
	lua_sched_del(t);
	m->busy--;
}

static bool all_over(void *arg)
{
	const struct map *m = arg;

	return m->busy == 0;
}

static int mapped(lua_State *L, int status, lua_KContext ctx)
{
	struct map *m = lua_touserdata(L, 1);

	(void)status, (void)ctx;
	for (lua_Integer i = m->next + 1; i <= m->n; i++)
		steps_skip(m->first + (uint32_t)i - 1);
	if (m->broken == LUA_ERRMEM)
		return lua_error_memory(L);
	if (m->broken != LUA_OK)
		return luaL_error(L, "run.map: an item could not go on; too "
				     "many calls are nested");
	lua_sched_check(L);
	lua_settop(L, 1);
	lua_getiuservalue(L, 1, OF_RESULTS);
	/* results for the items that never began */
	for (lua_Integer i = m->next + 1; i <= m->n; i++) {
		lua_createtable(L, 0, 2);
		lua_pushboolean(L, false);
		lua_setfield(L, -2, "ok");
		lua_createtable(L, 0, 2);
		lua_pushliteral(L, "RUN_CANCELED");
		lua_setfield(L, -2, "code");
		lua_pushliteral(L, "the run is being cancelled");
		lua_setfield(L, -2, "message");
		lua_setfield(L, -2, "error");
		lua_rawseti(L, -2, i);
	}
	return 1;
}

struct map_options {
	lua_Integer concurrency;
	const char *step;
	size_t step_len;
	struct lua_step_options each;
};

static void get_step(lua_State *L, struct map_options *o)
{
	if (lua_type(L, -1) == LUA_TSTRING) {
		o->step = lua_tolstring(L, -1, &o->step_len);
		if (text_is_name(o->step, o->step_len, STEP_BYTES_MAX))
			return;
	}
	luaL_error(L,
		   "step must be a string of 1 to %d bytes of UTF-8 "
		   "without control characters",
		   (int)STEP_BYTES_MAX);
}

/* Read the options; strings are valid as long as the table at IDX exists. */
static void get_options(lua_State *L, int idx, struct map_options *o)
{
	int is_int = 1;

	if (lua_isnil(L, idx))
		return;
	luaL_checktype(L, idx, LUA_TTABLE);
	lua_pushnil(L);
	while (lua_next(L, idx)) {
		const char *key =
		    lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";

		if (strcmp(key, "concurrency") == 0)
			o->concurrency = lua_tointegerx(L, -1, &is_int);
		else if (strcmp(key, "step") == 0)
			get_step(L, o);
		else if (!lua_steps_option(L, &o->each, key))
			luaL_error(L, "run.map takes the options concurrency, "
				      "step, retries, backoff and timeout "
				      "alone");
		if (!is_int || o->concurrency < 1 ||
		    o->concurrency > CONCURRENCY_MAX)
			luaL_error(L,
				   "concurrency must be an integer from 1 to "
				   "%d",
				   CONCURRENCY_MAX);
		lua_pop(L, 1);
	}
}

/* Push a new map of the list at 1 by the function at 3; nothing runs yet. */
static struct map *new_map(lua_State *L, const struct map_options *o,
			   lua_Integer n)
{
	lua_Integer slots = o->concurrency < n ? o->concurrency : n;
	size_t size =
	    sizeof(struct map) + (size_t)slots * sizeof(struct lua_task);
	struct map *m = lua_newuserdatauv(L, size, OF_THREADS);
	int at = lua_gettop(L);

	memset(m, 0, size);
	m->n = n;
	m->slots = slots;
	m->options = o->each;
	m->around = lua_sched_current()->step;
	lua_createtable(L, (int)n, 0); /* a copy: the list may change */
	for (lua_Integer i = 1; i <= n; i++) {
		lua_geti(L, 1, i);
		lua_rawseti(L, -2, i);
	}
	lua_setiuservalue(L, at, OF_ITEMS);
	lua_createtable(L, (int)n, 0);
	lua_json_mark_array(L, -1);
	lua_setiuservalue(L, at, OF_RESULTS);
	lua_pushvalue(L, 3);
	lua_setiuservalue(L, at, OF_FUNCTION);
	lua_pushlstring(L, o->step, o->step_len);
	lua_setiuservalue(L, at, OF_NAME);
	lua_createtable(L, (int)slots, 0);
	for (lua_Integer i = 0; i < slots; i++) {
		m->tasks[i].L = lua_newthread(L);
		lua_rawseti(L, -2, i + 1);
	}
	lua_setiuservalue(L, at, OF_THREADS);
	return m;
}

/*
 * Declare steps NAME[i]; for a single item the index is added here, not by the
 * supervisor.
 */
static uint32_t declare_items(const struct map *m, const struct map_options *o)
{
	char name[MSG_NAME_MAX];
	size_t n = o->step_len;

	memcpy(name, o->step, n);
	if (m->n == 1) {
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): by length */
		memcpy(name + n, "[1]", 3);
		n += 3;
	}
	return steps_declare(name, n, (uint32_t)m->n, m->around);
}

/* Start the tasks of the map on top. */
static void start_items(lua_State *L, struct map *m)
{
	for (lua_Integer i = 0; i < m->slots; i++) {
		struct lua_task *t = &m->tasks[i];

		lua_pushvalue(L, -1);
		lua_xmove(L, t->L, 1);
		t->on_over = on_over;
		t->arg = m;
		if (!next_item(m, t))
			break; /* a signal arrived in between */
		lua_sched_add(t);
		m->busy++;
	}
}

int lua_map_map(lua_State *L)
{
	struct map_options o = {.concurrency = CONCURRENCY_DEFAULT,
				.step = STEP_DEFAULT,
				.step_len = sizeof(STEP_DEFAULT) - 1};
	struct lua_wait w = {.until_us = INT64_MAX, .over = all_over};
	struct map *m;
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	if (lua_gettop(L) == 2) { /* no options */
		lua_pushnil(L);
		lua_insert(L, 2);
	}
	luaL_checktype(L, 3, LUA_TFUNCTION);
	lua_settop(L, 3);
	get_options(L, 2, &o);
	lua_steps_need_task(L);
	lua_sched_check(L);
	if (signals_cancelled())
		return lua_error_cancelled(L);
	n = luaL_len(L, 1);
	luaL_argcheck(L, n >= 0 && n <= STEPS_MAX, 1,
		      "a list of more than 10000 items");
	m = new_map(L, &o, n);
	if (n > 0) {
		m->first = declare_items(m, &o);
		if (m->first == STEPS_NONE)
			return luaL_error(L, "a run has at most %d steps",
					  (int)STEPS_MAX);
	}
	start_items(L, m);
	lua_replace(L, 1);
	lua_settop(L, 1);
	w.arg = m;
	return lua_sched_wait(L, &w, 0, mapped);
}
