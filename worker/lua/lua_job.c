/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_job.c - a run of a Lua template in a worker, from READY to RESULT or FAIL. zygote.c
 * calls the functions through the table below. Without memory for anything else the
 * worker sends FAIL from a reserve; a supervisor that breaks the protocol ends the
 * worker.
 */
#include "worker/lua/lua_job.h"

#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/file_part.h"
#include "worker/channel.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/json/lua_json.h"
#include "worker/lua/lua_lib.h"
#include "worker/lua/lua_outcome.h"
#include "worker/lua/lua_resident.h"
#include "worker/lua/lua_api.h"
#include "worker/lua/lua_sched.h"
#include "worker/lua/state/lua_state.h"
#include "worker/memory.h"
#include "worker/signals.h"
#include "worker/steps.h"
#include "worker/timers.h"
#include "worker/zygote.h"

#define TOUCHED 4096 /* bytes of the stack, and of the heap's end */

enum { EXIT_SENT = 0 };

static struct {
	lua_State *L;
	struct msg_run run; /* the strings point to the copies below */
	char run_id[MSG_NAME_MAX];
	char template_id[MSG_NAME_MAX];
	/* "@main.lua": the name of the chunk in Lua */
	char entry[MSG_NAME_MAX + 2];
	/* the code, then the inputs, then the files, then a NUL */
	char *body;
	bool good; /* the state is good for one more run of a resident */
} job MEMORY_EACH_RUN;

/* The address is the registry's key of a resident's function. */
static char function;

int lua_job_prepare(void)
{
	time_t epoch = 0;
	struct tm tm;
	int rc;

	/* UTC as the time zone, so that libc reads no file for local times */
	(void)setenv("TZ", "UTC0", 1);
	tzset();
	(void)localtime_r(&epoch, &tm);
	rc = signals_install();
	if (rc == 0)
		rc = timers_install();
	if (rc < 0)
		return rc;
	timers_on_due(lua_sched_interrupt);
	signals_on_cancel(lua_sched_interrupt);
	job.L = lua_state_new(lua_api_open);
	return job.L == NULL ? -ENOMEM : 0;
}

static size_t body_size(void)
{
	return (size_t)(job.run.code_bytes + job.run.inputs_bytes +
			job.run.files_bytes) +
	       1;
}

static struct str copy_str(char *to, struct str from)
{
	memcpy(to, from.p, from.n);
	return (struct str){to, from.n};
}

static void free_body(void)
{
	lua_state_free(job.body, job.body != NULL ? body_size() : 0);
	job.body = NULL;
}

/* Copy the strings of R, which borrow from the frame that CHUNKs overwrite. */
static void take_run(const struct msg_run *r)
{
	free_body();
	job.run = *r;
	job.run.run_id = copy_str(job.run_id, r->run_id);
	job.run.template_id = copy_str(job.template_id, r->template_id);
	job.entry[0] = '@';
	job.entry[1 + copy_str(job.entry + 1, r->entry).n] = '\0';
	lua_state_limit(job.L, (size_t)r->memory_bytes);
	job.body = lua_state_alloc(body_size());
	if (job.body == NULL) { /* a resident may hold garbage */
		lua_gc(job.L, LUA_GCCOLLECT);
		job.body = lua_state_alloc(body_size());
	}
	if (job.body == NULL) {
		lua_outcome_no_memory();
		_exit(EXIT_SENT);
	}
	channel_recv_body(job.body, r->head, body_size() - 1);
	job.body[body_size() - 1] = '\0';
}

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

/*
 * Put F's bytes into the inputs, the value on top, at the JSON pointer which comes with the
 * file. False: the pointer leads nowhere. Raises an error when memory is short.
 */
static bool put_input_file(lua_State *L, const struct file_part *f)
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

static int returned(lua_State *L, int status, lua_KContext ctx)
{
	(void)L, (void)status, (void)ctx;
	return 1;
}

/*
 * Check and call the value that the template's file returned, on top: with the inputs, in
 * which the bytes of files are at their places.
 */
static int loaded(lua_State *L, int status, lua_KContext ctx)
{
	char *inputs = job.body + job.run.code_bytes;
	char *files = inputs + job.run.inputs_bytes;
	struct str rest = {files, (size_t)job.run.files_bytes};
	struct file_part file;
	char first = *files;

	(void)status, (void)ctx;
	if (!lua_isfunction(L, -1))
		return luaL_error(L,
				  "%s must return a function(run, inputs), "
				  "but it returned a %s",
				  job.entry + 1, luaL_typename(L, -1));
	if (lua_resident_stays()) {
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &function);
	}
	lua_api_push(L);
	*files = '\0'; /* ends the inputs */
	lua_json_decode(L, inputs, (size_t)job.run.inputs_bytes);
	*files = first;
	while (rest.n > 0)
		if (!file_part_next(&rest, &file) || !put_input_file(L, &file))
			channel_broken();
	free_body();
	lua_callk(L, 2, 1, 0, returned);
	return returned(L, LUA_OK, 0);
}

/* The main task's function. */
static int run_template(lua_State *L)
{
	int rc;

	if (signals_cancelled())
		return lua_error_cancelled(L);
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &function) == LUA_TFUNCTION)
		return loaded(L, LUA_OK, 0);
	rc = luaL_loadbufferx(L, job.body, (size_t)job.run.code_bytes,
			      job.entry, "t");
	if (rc == LUA_ERRMEM)
		return lua_error_memory(L);
	if (rc != LUA_OK)
		return lua_error(L);
	lua_callk(L, 0, 1, 0, loaded);
	return loaded(L, LUA_OK, 0);
}

/* Report the end of the main task, at 1. */
static int report(lua_State *L)
{
	lua_State *T = lua_tothread(L, 1);

	lua_pop(L, 1);
	lua_xmove(T, L, 1);
	lua_outcome_value(L, 1, (size_t)job.run.output_bytes);
	return 0;
}

/* Called protected, so that the API may raise, and L is a running coroutine. */
static int serve_job(lua_State *L)
{
	struct lua_task main = {.L = lua_newthread(L), .step = STEPS_NONE};
	int rc = LUA_OK;

	lua_api_begin(L, &job.run);
	if (lua_resident_is_first())
		lua_lib_seed(L);
	lua_pushcfunction(main.L, run_template);
	lua_sched_add(&main);
	lua_sched_run(L, &main);
	lua_sched_del(&main);
	timers_off();
	if (main.status == LUA_OK) {
		lua_pushcfunction(L, report);
		lua_pushvalue(L, 1);
		rc = lua_pcall(L, 1, 0, 0);
		if (rc == LUA_OK) {
			job.good = true;
			return 0;
		}
	}
	lua_state_reserve();
	if (rc == LUA_OK)
		job.good = lua_outcome_error(L, main.L, main.status);
	else
		job.good = lua_outcome_error(L, L, rc);
	return 0;
}

/* Allocate like any run: a call, a new string, and separate memory. */
static int touch_state(lua_State *L)
{
	(void)lua_pushliteral(L, "waits");
	return 0;
}

/*
 * Write to the pages that every run writes, before a run comes: the first write copies a
 * page, and a warm worker may wait long for a run.
 */
static void touch_pages(void)
{
	volatile char *each = (volatile char *)&job;
	volatile char below[TOUCHED];
	char *end = lua_state_alloc(TOUCHED);

	below[0] = each[0];
	each[0] = below[0];
	if (end != NULL)
		end[TOUCHED - 1] = 0;
	lua_state_free(end, TOUCHED);
	lua_pushcfunction(job.L, touch_state);
	if (lua_pcall(job.L, 0, 0, 0) != LUA_OK)
		lua_settop(job.L, 0);
	(void)clock_mono_us();
}

/* Receive RUN, before which a resident's worker is told so, and may get late answers. */
static void await_run(struct msg *m)
{
	do
		channel_recv(m);
	while (lua_resident_stays() &&
	       (m->type == MSG_ANSWER || m->type == MSG_CHUNK));
	if (m->type == MSG_STAY) {
		lua_resident_take(&m->stay);
		channel_recv(m);
	}
	if (m->type != MSG_RUN)
		channel_broken();
}

static void serve_run(void)
{
	struct msg m;

	await_run(&m);
	channel_set_rate(m.run.messages_per_second);
	take_run(&m.run);
	job.good = false;
	lua_pushcfunction(job.L, serve_job);
	if (lua_pcall(job.L, 0, 0, 0) != LUA_OK)
		lua_outcome_no_memory(); /* no other error is possible here */
}

void lua_job_serve(void)
{
	touch_pages();
	serve_run();
	while (lua_resident_stays() && job.good) {
		lua_resident_keep();
		serve_run();
	}
	_exit(EXIT_SENT);
}

const struct zygote_runtime zygote_lua = {.prepare = lua_job_prepare,
					  .serve = lua_job_serve};
