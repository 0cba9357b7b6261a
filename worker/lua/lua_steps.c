/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_steps.c - run.step(), from lua_api.c, and the attempts of a step, which lua_map.c
 * uses for items. A step that finally fails raises an error with the step's name; a step
 * with a timeout that catches the timeout's error is stopped all the same.
 */
#include "worker/lua/lua_steps.h"

#include <lauxlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ipc/msg.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/lua_sched.h"
#include "worker/signals.h"
#include "worker/steps.h"
#include "worker/text.h"

#define RETRIES_MAX 100
#define BACKOFF_MAX_MS 3600000	 /* an hour; doubling stops there */
#define TIMEOUT_MAX_MS 604800000 /* a week */
#define DETAILS_SIZE (64 + 6 * MSG_NAME_MAX)

/* Stack indexes of a running step: the attempt, name, function, arguments. */
enum { AT_ATTEMPT = 1, AT_NAME = 2, AT_FUNCTION = 3 };

struct attempt {
	uint32_t step;
	unsigned run; /* of which the step is */
	int nargs;
	struct lua_step_options options;
	lua_step_finish *finish;
	enum lua_error_kind kind; /* of the last attempt's error */
	char details[];		  /* with a timeout: details of the FAIL */
};

static const char metatable[] = "paddock.attempt";
static unsigned runs; /* before the present run, of a resident */

void lua_steps_forget(void)
{
	runs++;
	steps_forget();
}

/*
 * Stop the timer of a collected attempt: a coroutine of the template may be collected in
 * the middle of a step, and no timer may outlive the borrowed details.
 */
static int attempt_gc(lua_State *L)
{
	const struct attempt *a = lua_touserdata(L, 1);

	if (a->step != STEPS_NONE && a->run == runs)
		steps_pause(a->step);
	return 0;
}

void lua_steps_open(lua_State *L)
{
	luaL_newmetatable(L, metatable);
	lua_pushcfunction(L, attempt_gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
}

void lua_steps_need_task(lua_State *L)
{
	if (lua_sched_current() == NULL)
		luaL_error(L, "the run is over");
}

void lua_steps_new(lua_State *L, const struct lua_step_options *o,
		   lua_step_finish *finish, const char *name, size_t len)
{
	bool timed = o->timeout_ms > 0;
	struct attempt *a =
	    lua_newuserdatauv(L, sizeof(*a) + (timed ? DETAILS_SIZE : 0), 1);
	struct text t = {.p = a->details, .size = DETAILS_SIZE - 1};

	*a = (struct attempt){
	    .step = STEPS_NONE, .run = runs, .options = *o, .finish = finish};
	luaL_setmetatable(L, metatable);
	if (!timed)
		return;
	text_add(&t, "{\"failedStep\":");
	text_add_quoted(&t, name, len);
	text_add(&t, ",\"stepErrorCode\":\"STEP_TIMEOUT\"}");
	a->details[t.n] = '\0';
}

static int base_of(const struct attempt *a)
{
	return AT_FUNCTION + a->nargs;
}

static int try_it(lua_State *L, struct attempt *a);
static int attempt_ended(lua_State *L, int status, lua_KContext ctx);

/* Is another attempt allowed? */
static bool may_retry(const struct attempt *a)
{
	uint32_t around = steps_around(a->step);

	return a->kind != LUA_ERROR_CANCELLED && !signals_cancelled() &&
	       steps_attempts(a->step) <= (lua_Unsigned)a->options.retries &&
	       !(around != STEPS_NONE && steps_timed_out(around));
}

static int leave_attempt(lua_State *L, struct attempt *a, bool ok)
{
	lua_sched_current()->step = steps_around(a->step);
	return a->finish(L, ok, base_of(a));
}

/* Fail the step; above the base are the error, the code and the message. */
static int give_up_step(lua_State *L, struct attempt *a)
{
	int err = base_of(a) + 1;
	size_t n;
	const char *message = lua_tolstring(L, err + 2, &n);

	if (a->options.optional)
		steps_skip(a->step);
	else
		steps_fail(a->step, lua_tostring(L, err + 1), message, n);
	lua_error_leave_step(L, a->kind, err, AT_NAME);
	return leave_attempt(L, a, false);
}

static int retry_step(lua_State *L, int status, lua_KContext ctx)
{
	struct attempt *a = lua_touserdata(L, AT_ATTEMPT);

	(void)status, (void)ctx;
	return may_retry(a) ? try_it(L, a) : give_up_step(L, a);
}

/* Handle the error on top, right above the base. */
static int attempt_failed(lua_State *L, struct attempt *a, int status)
{
	struct lua_wait w = {.light = true};
	int64_t ms = a->options.backoff_ms;

	a->kind = lua_error_explain(L, status);
	if (!may_retry(a))
		return give_up_step(L, a);
	if (ms == 0)
		return try_it(L, a);
	for (unsigned i = 1; i < steps_attempts(a->step); i++)
		if (ms < BACKOFF_MAX_MS)
			ms *= 2;
	if (ms > BACKOFF_MAX_MS)
		ms = BACKOFF_MAX_MS;
	w.until_us = clock_mono_us() + ms * 1000;
	return lua_sched_wait(L, &w, 0, retry_step);
}

static int attempt_ended(lua_State *L, int status, lua_KContext ctx)
{
	struct attempt *a = lua_touserdata(L, AT_ATTEMPT);
	bool late;

	(void)ctx;
	if (a->run != runs)
		return luaL_error(L, "the run of this step is over");
	late = steps_itself_timed_out(a->step);
	steps_pause(a->step);
	/* even if the step succeeded late, or raised another error */
	if (late) {
		lua_settop(L, base_of(a));
		lua_error_push(L, LUA_ERROR_TYPED, "STEP_TIMEOUT",
			       "the step ran longer than its timeout of %lld "
			       "ms",
			       (long long)a->options.timeout_ms);
		return attempt_failed(L, a, LUA_ERRRUN);
	}
	if (status != LUA_OK && status != LUA_YIELD)
		return attempt_failed(L, a, status);
	steps_succeed(a->step);
	return leave_attempt(L, a, true);
}

static int try_it(lua_State *L, struct attempt *a)
{
	int base = base_of(a);

	lua_settop(L, base);
	luaL_checkstack(L, a->nargs + 8, "too many arguments");
	if (steps_begin(a->step, a->options.timeout_ms, a->details) < 0) {
		lua_error_push(L, LUA_ERROR_TYPED, "TOO_MANY_TIMEOUTS",
			       "too many steps with a timeout run at once");
		return attempt_failed(L, a, LUA_ERRRUN);
	}
	for (int i = AT_FUNCTION; i <= base; i++)
		lua_pushvalue(L, i);
	return attempt_ended(
	    L, lua_pcallk(L, a->nargs, LUA_MULTRET, 0, 0, attempt_ended), 0);
}

int lua_steps_run(lua_State *L, uint32_t step, int nargs)
{
	struct attempt *a = lua_touserdata(L, AT_ATTEMPT);

	a->step = step;
	a->nargs = nargs;
	lua_sched_current()->step = step;
	return try_it(L, a);
}

/* The options that steps and the items of a map share. */
static const struct {
	const char *name;
	size_t at;
	lua_Integer max;
} options[] = {
    {"retries", offsetof(struct lua_step_options, retries), RETRIES_MAX},
    {"backoff", offsetof(struct lua_step_options, backoff_ms), BACKOFF_MAX_MS},
    {"timeout", offsetof(struct lua_step_options, timeout_ms), TIMEOUT_MAX_MS},
};

bool lua_steps_option(lua_State *L, struct lua_step_options *o, const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		int is_int;
		lua_Integer v;

		if (strcmp(key, options[i].name) != 0)
			continue;
		v = lua_tointegerx(L, -1, &is_int);
		if (!is_int || v < 0 || v > options[i].max)
			luaL_error(L, "%s must be an integer from 0 to %I", key,
				   (LUAI_UACINT)options[i].max);
		*(lua_Integer *)((char *)o + options[i].at) = v;
		return true;
	}
	return false;
}

static void get_options(lua_State *L, int idx, struct lua_step_options *o)
{
	if (lua_isnoneornil(L, idx))
		return;
	luaL_checktype(L, idx, LUA_TTABLE);
	lua_pushnil(L);
	while (lua_next(L, idx)) {
		bool named = lua_type(L, -2) == LUA_TSTRING;

		if (named && strcmp(lua_tostring(L, -2), "optional") == 0)
			o->optional = lua_toboolean(L, -1);
		else if (!named || !lua_steps_option(L, o, lua_tostring(L, -2)))
			luaL_error(L, "run.step takes the options retries, "
				      "backoff, timeout and optional alone");
		lua_pop(L, 1);
	}
}

static int finish_step(lua_State *L, bool ok, int base)
{
	return ok ? lua_gettop(L) - base : lua_error(L);
}

int lua_steps_step(lua_State *L)
{
	struct lua_step_options o = {0};
	size_t n;
	const char *name = luaL_checklstring(L, 1, &n);
	uint32_t step;

	luaL_argcheck(L, text_is_name(name, n, MSG_NAME_MAX), 1,
		      "a name is 1 to 256 bytes of UTF-8 without control "
		      "characters");
	luaL_checktype(L, 2, LUA_TFUNCTION);
	get_options(L, 3, &o);
	lua_steps_need_task(L);
	lua_sched_check(L);
	if (signals_cancelled())
		return lua_error_cancelled(L);
	lua_settop(L, 2);
	lua_steps_new(L, &o, finish_step, name, n);
	lua_insert(L, AT_ATTEMPT);
	step = steps_declare(name, n, 1, lua_sched_current()->step);
	if (step == STEPS_NONE)
		return luaL_error(L, "a run has at most %d steps",
				  (int)STEPS_MAX);
	return lua_steps_run(L, step, 0);
}
