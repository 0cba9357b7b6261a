/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_artifact.c - run.artifact(): sends the bytes and waits for the supervisor's answer.
 * An artifact above a limit, or refused by the supervisor, raises an error of a separate
 * kind; lua_outcome.c reads the code at the end of the run.
 */
#include "worker/lua/lua_artifact.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "worker/lua/lua_questions.h"
#include "worker/channel.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/lua_sched.h"
#include "worker/lua/lua_steps.h"
#include "worker/progress.h"
#include "worker/report.h"
#include "worker/text.h"

#define MIME_DEFAULT "application/octet-stream"

static uint64_t used;
static uint64_t allowed;
static char refusal[TEXT_CODE_SIZE]; /* the code of the last refusal */

void lua_artifact_limit(uint64_t bytes)
{
	allowed = bytes;
	used = 0;
	/* an error of an earlier run of a resident may be raised again */
	snprintf(refusal, sizeof(refusal), "EXECUTION_ERROR");
}

const char *lua_artifact_refusal(void)
{
	return refusal;
}

static void set_int(lua_State *L, const char *key, uint64_t v)
{
	lua_pushinteger(L, (lua_Integer)v);
	lua_setfield(L, -2, key);
}

static void set_text(lua_State *L, const char *key, const char *s)
{
	lua_pushstring(L, s);
	lua_setfield(L, -2, key);
}

static int over_limit(lua_State *L, uint64_t would_use)
{
	static const char over[] = "RESOURCE_LIMIT";

	snprintf(refusal, sizeof(refusal), "%s", over);
	lua_error_push(L, LUA_ERROR_LIMIT, over,
		       "the run's artifacts would hold %llu bytes, of %llu "
		       "allowed",
		       (unsigned long long)would_use,
		       (unsigned long long)allowed);
	lua_createtable(L, 0, 5);
	set_text(L, "limit", "artifact_bytes");
	set_int(L, "used", would_use);
	set_int(L, "allowed", allowed);
	set_text(L, "unit", "bytes");
	set_text(L, "whoCanRaise",
		 "template limits.maxArtifactBytes, or the "
		 "server's [limits]");
	lua_setfield(L, -2, "details");
	return lua_error(L);
}

/* Leave the string field KEY of the table at 1 on the stack; or OTHERWISE. */
static struct str string_field(lua_State *L, const char *key,
			       const char *otherwise)
{
	struct str s = {otherwise, otherwise != NULL ? strlen(otherwise) : 0};

	if (lua_getfield(L, 1, key) == LUA_TSTRING)
		s.p = lua_tolstring(L, -1, &s.n);
	else if (!lua_isnil(L, -1) || otherwise == NULL)
		luaL_error(L, "run.artifact: %s must be a string", key);
	return s;
}

static struct str name_field(lua_State *L, const char *key,
			     const char *otherwise)
{
	struct str s = string_field(L, key, otherwise);

	if (!text_is_name(s.p, s.n, MSG_NAME_MAX))
		luaL_error(L,
			   "run.artifact: %s must be 1 to 256 bytes of UTF-8 "
			   "without control characters",
			   key);
	return s;
}

/* Receive the answer. Answers to questions of other tasks may come first. */
static int get_answer(lua_State *L, size_t size)
{
	struct msg m;
	size_t at;

	channel_recv(&m);
	while (m.type != MSG_ANSWER || m.answer.seq != 0) {
		lua_questions_take(&m);
		channel_recv(&m);
	}
	if (!m.answer.ok) {
		used -= size;
		at = text_refusal(refusal, m.answer.head.p, m.answer.head.n);
		lua_error_push(L, LUA_ERROR_LIMIT, refusal, "%.*s",
			       (int)(m.answer.head.n - at),
			       m.answer.head.p + at);
		return lua_error(L);
	}
	lua_pushlstring(L, m.answer.head.p, m.answer.head.n);
	return 1;
}

int lua_artifact_artifact(lua_State *L)
{
	struct msg m = {.type = MSG_ARTIFACT};
	struct str data;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	m.artifact.name = name_field(L, "name", NULL);
	m.artifact.mime_type = name_field(L, "mimeType", MIME_DEFAULT);
	data = string_field(L, "data", NULL);
	lua_steps_need_task(L);
	lua_sched_check(L);
	if (data.n > allowed - used || data.n > MSG_BODY_MAX) {
		/* the artifact was not sent to the supervisor */
		report_lost(&(struct msg_lost){.kind = MSG_LOST_LIMIT,
					       .told = true,
					       .count = 1,
					       .size = data.n,
					       .name = m.artifact.name});
		return over_limit(L, used + data.n);
	}
	used += data.n;
	progress_flush();
	channel_send_body(&m, data.p, data.n);
	return get_answer(L, data.n);
}
