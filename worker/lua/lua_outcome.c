/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_outcome.c - the last message of a Lua run, for lua_job.c: RESULT, or FAIL with the
 * details from which the supervisor makes an outcome. A result that is too large, or not
 * representable in JSON, becomes a FAIL.
 */
#include "worker/lua/lua_outcome.h"

#include <lauxlib.h>
#include <string.h>
#include <sys/resource.h>

#include "worker/lua/lua_artifact.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/json/lua_json.h"
#include "worker/lua/lua_api.h"
#include "worker/lua/state/lua_state.h"
#include "worker/report.h"
#include "worker/text.h"

/* leaves space for the other details */
#define TEMPLATE_DETAILS_MAX (MSG_DETAILS_MAX - 2048u)

static char details_room[MSG_DETAILS_MAX];

static struct text new_details(void)
{
	return (struct text){.p = details_room, .size = sizeof(details_room)};
}

static void send_fail(const char *code, const char *message, size_t len,
		      const struct text *details)
{
	bool sent = details != NULL && !details->full;

	report_fail(code, message, len,
		    sent ? (struct str){details->p, details->n}
			 : (struct str){0});
}

static void send_limit(const char *limit, size_t used, size_t allowed,
		       const char *who_can_raise, const char *message)
{
	struct text t = new_details();

	text_add_limit(&t, limit, used, allowed, "bytes", who_can_raise);
	send_fail("RESOURCE_LIMIT", message, strlen(message), &t);
}

void lua_outcome_no_memory(void)
{
	size_t allowed = lua_state_allowed(), refused = lua_state_refused();

	send_limit("memory", refused > 0 ? refused : allowed, allowed,
		   "template limits.maxMemoryBytes, or the server's [limits]",
		   "the run needed more memory than it may have");
}

/* Push a copy of a reply, which the template may have changed, with known keys alone. */
static void push_reply(lua_State *L, int idx)
{
	static const char *const keys[] = {"content", "structuredContent",
					   "isError", "error"};

	lua_createtable(L, 0, 3);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		lua_pushstring(L, keys[i]);
		lua_rawget(L, idx);
		lua_setfield(L, -2, keys[i]);
	}
}

void lua_outcome_value(lua_State *L, int idx, size_t output_bytes)
{
	enum msg_result_kind kind = MSG_RESULT_VALUE;
	struct rusage used;
	size_t n;

	idx = lua_absindex(L, idx);
	if (lua_api_is_reply(L, idx)) {
		kind = MSG_RESULT_REPLY;
		push_reply(L, idx);
		idx = lua_gettop(L);
	}
	if (output_bytes > MSG_BODY_MAX)
		output_bytes = MSG_BODY_MAX;
	if (!lua_json_encode(L, idx, output_bytes, &n)) {
		send_limit("output_bytes", n, output_bytes,
			   "template limits.maxOutputBytes, or the server's "
			   "[limits]",
			   "the result is larger than it may be");
		return;
	}
	getrusage(RUSAGE_SELF, &used);
	report_result(kind, &used, lua_tostring(L, -1), n);
}

static int encode_details(lua_State *L)
{
	size_t n;

	if (!lua_json_encode(L, 1, TEMPLATE_DETAILS_MAX, &n))
		return luaL_error(L, "they are %I bytes, of %I allowed",
				  (LUAI_UACINT)n,
				  (LUAI_UACINT)TEMPLATE_DETAILS_MAX);
	return 1;
}

enum details { DETAILS_NONE, DETAILS_JSON, DETAILS_BAD };

/* Push the details of the error at ERR as JSON text, or the reason of the failure. */
static enum details push_details(lua_State *L, int err)
{
	lua_pushcfunction(L, encode_details);
	lua_pushliteral(L, "details");
	if (!lua_istable(L, err) || lua_rawget(L, err) == LUA_TNIL)
		return DETAILS_NONE;
	return lua_pcall(L, 1, 1, 0) == LUA_OK ? DETAILS_JSON : DETAILS_BAD;
}

static void add_string_at(lua_State *L, struct text *t, const char *key,
			  int idx)
{
	size_t n;
	const char *p = lua_tolstring(L, idx, &n);

	text_add(t, t->n > 1 ? "," : "");
	text_add_quoted(t, key, strlen(key));
	text_add(t, ":");
	text_add_quoted(t, p != NULL ? p : "?", p != NULL ? n : 1);
}

/* Add the details from the template's error. */
static void add_template_details(lua_State *L, struct text *t, int err)
{
	switch (push_details(L, err)) {
	case DETAILS_NONE:
		break;
	case DETAILS_JSON:
		text_add(t, ",\"templateDetails\":");
		text_add(t, lua_tostring(L, -1));
		break;
	case DETAILS_BAD:
		add_string_at(L, t, "templateDetailsOmitted", -1);
		break;
	}
}

/* Send the error at ERR, with the code and message above ERR. */
static void send_error(lua_State *L, int err, enum lua_error_kind kind)
{
	struct text t = new_details();
	size_t n;
	const char *code = "EXECUTION_ERROR";
	const char *message = lua_tolstring(L, err + 2, &n);

	text_add(&t, "{");
	if (kind == LUA_ERROR_STEP) {
		code = "STEP_EXECUTION_FAILED";
		lua_error_push_step(L, err);
		add_string_at(L, &t, "failedStep", -1);
		add_string_at(L, &t, "stepErrorCode", err + 1);
		add_template_details(L, &t, err);
	} else if (kind == LUA_ERROR_TYPED) {
		add_string_at(L, &t, "templateCode", err + 1);
		add_template_details(L, &t, err);
	}
	text_add(&t, "}");
	send_fail(code, message, n, t.n > 2 ? &t : NULL);
}

static void send_artifact_limit(lua_State *L, int err)
{
	struct text t = new_details();
	size_t n;
	const char *message = lua_tolstring(L, err + 2, &n);

	if (push_details(L, err) == DETAILS_JSON)
		text_add(&t, lua_tostring(L, -1));
	send_fail(lua_artifact_refusal(), message, n,
		  t.n > 1 && t.p[0] == '{' ? &t : NULL);
}

/* Can a line of the template be named? A syntax error has no line in a stack frame. */
static bool has_lua_frame(lua_State *T)
{
	lua_Debug ar;

	for (int level = 0; lua_getstack(T, level, &ar); level++)
		if (lua_getinfo(T, "S", &ar) && strcmp(ar.what, "C") != 0)
			return true;
	return false;
}

bool lua_outcome_error(lua_State *L, lua_State *T, int status)
{
	static const char cancelled[] = "the run was cancelled";
	enum lua_error_kind kind;
	int err;

	if (T != L)
		lua_xmove(T, L, 1);
	err = lua_gettop(L);
	kind = lua_error_explain(L, status);
	switch (kind) {
	case LUA_ERROR_MEMORY:
		lua_outcome_no_memory();
		return false;
	case LUA_ERROR_LIMIT:
		send_artifact_limit(L, err);
		return true;
	case LUA_ERROR_CANCELLED:
		send_fail("RUN_CANCELED", cancelled, sizeof(cancelled) - 1,
			  NULL);
		return true;
	default:
		break;
	}
	if (kind == LUA_ERROR_PLAIN && T != L && has_lua_frame(T)) {
		luaL_traceback(L, T, lua_tostring(L, err + 2), 0);
		lua_replace(L, err + 2);
	}
	send_error(L, err, kind);
	return true;
}
