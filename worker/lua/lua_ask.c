/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_ask.c - run.elicit(), run.sample(), run.roots(), run.call() and run.template(), from
 * lua_api.c.
 * Options are checked before anything is sent; a refusal by the supervisor, the client or
 * the tool raises an error with the code.
 */
#include "worker/lua/lua_api.h"

#include <lauxlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "ipc/msg.h"
#include "worker/lua/lua_questions.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/json/lua_json.h"
#include "worker/lua/lua_sched.h"
#include "worker/lua/lua_steps.h"
#include "worker/progress.h"
#include "worker/signals.h"
#include "worker/text.h"

#define TIMEOUT_MAX_MS 604800000 /* a week: no run is that long */
#define TOKENS_MAX 1000000000

/* ---- questions ---- */

/* Stack indexes: the tool's name, and the parameters as JSON. */
enum { AT_TOOL = 1, AT_PARAMS = 2 };

enum asker { ELICIT, SAMPLE, ROOTS, CALL, TEMPLATE, SEARCH };

static const enum msg_input_kind inputs[] = {[ELICIT] = MSG_INPUT_ELICIT,
					     [SAMPLE] = MSG_INPUT_SAMPLE,
					     [ROOTS] = MSG_INPUT_ROOTS};

static bool has_question_room(void *arg)
{
	(void)arg;
	return lua_questions_have_space();
}

static bool is_answered(void *arg)
{
	return lua_questions_answered(arg);
}

/* Push the answer to the question at 1, a light userdata, as a value. */
static int decode_answer(lua_State *L)
{
	bool ok;
	size_t n;
	const char *p = lua_questions_answer(lua_touserdata(L, 1), &ok, &n);

	if (p == NULL)
		return lua_error_memory(L);
	lua_json_decode(L, p, n);
	return 1;
}

/* Push the field KEY of the table at IDX, if the field is a string. */
static bool push_string(lua_State *L, int idx, const char *key)
{
	if (lua_istable(L, idx)) {
		if (lua_getfield(L, idx, key) == LUA_TSTRING)
			return true;
		lua_pop(L, 1);
	}
	return false;
}

/* Raise the table {code=, message=, details=} on top. */
static int raise(lua_State *L)
{
	int err = lua_gettop(L);
	const char *code = "ERROR";

	if (push_string(L, err, "code"))
		code = lua_tostring(L, -1);
	if (strcmp(code, "RUN_CANCELED") == 0)
		return lua_error_cancelled(L);
	lua_error_push(L, LUA_ERROR_TYPED, code, "it was not answered");
	if (push_string(L, err, "message"))
		lua_setfield(L, -2, "message");
	if (lua_istable(L, err)) {
		lua_getfield(L, err, "details");
		lua_setfield(L, -2, "details");
	}
	return lua_error(L);
}

/* Continue when the question CTX is answered, or when the wait ended early. */
static int on_answer(lua_State *L, int status, lua_KContext ctx)
{
	struct ask *a = (struct ask *)ctx;
	bool ok = false;
	size_t n;
	int rc;

	(void)status;
	if (!lua_questions_answered(a)) {
		lua_questions_drop(a);
		lua_sched_check(L);
		return lua_error_cancelled(L);
	}
	(void)lua_questions_answer(a, &ok, &n);
	lua_pushcfunction(L, decode_answer);
	lua_pushlightuserdata(L, a);
	rc = lua_pcall(L, 1, 1, 0);
	lua_questions_done(a);
	if (rc != LUA_OK)
		return lua_error(L);
	return ok ? 1 : raise(L);
}

/* Return the output of the called template, and a table with the run's id and the rest. */
static int on_output(lua_State *L, int status, lua_KContext ctx)
{
	(void)on_answer(L, status, ctx);
	lua_getfield(L, -1, "output");
	lua_insert(L, -2);
	return 2;
}

/* Return the list of the templates that were found. */
static int on_found(lua_State *L, int status, lua_KContext ctx)
{
	(void)on_answer(L, status, ctx);
	lua_getfield(L, -1, "templates");
	return 1;
}

/* Send the question of kind CTX (enum asker), once fewer questions are open, and wait. */
static int ask_question(lua_State *L, int status, lua_KContext ctx)
{
	struct lua_wait w = {.until_us = INT64_MAX, .light = true};
	static const lua_KFunction then[] = {
	    [ELICIT] = on_answer, [SAMPLE] = on_answer,	  [ROOTS] = on_answer,
	    [CALL] = on_answer,	  [TEMPLATE] = on_output, [SEARCH] = on_found};
	bool is_call = ctx >= CALL;
	struct msg m = {.type = is_call ? MSG_CALL : MSG_INPUT};
	const char *p;
	size_t n;

	(void)status;
	lua_sched_check(L);
	if (signals_cancelled())
		return lua_error_cancelled(L);
	if (!lua_questions_have_space()) {
		w.over = has_question_room;
		return lua_sched_wait(L, &w, ctx, ask_question);
	}
	p = lua_tolstring(L, AT_PARAMS, &n);
	if (is_call)
		m.call.tool.p = lua_tolstring(L, AT_TOOL, &m.call.tool.n);
	else
		m.input.kind = inputs[ctx];
	progress_flush();
	w.over = is_answered;
	w.arg = lua_questions_send(&m, p, n);
	return lua_sched_wait(L, &w, (lua_KContext)w.arg, then[ctx]);
}

/* Send the parameters on top of the stack; the tool is at AT_TOOL. */
static int ask_with(lua_State *L, enum asker asker, const char *what)
{
	size_t n;

	if (!lua_json_encode(L, -1, MSG_ASK_MAX, &n))
		return luaL_error(L,
				  "%s: what it asks takes %I bytes as JSON; it "
				  "may take %d",
				  what, (LUAI_UACINT)n, (int)MSG_ASK_MAX);
	lua_replace(L, AT_PARAMS);
	lua_settop(L, AT_PARAMS);
	lua_steps_need_task(L);
	return ask_question(L, LUA_OK, (lua_KContext)asker);
}

/* ---- options ---- */

enum kind { TEXT, KEY, NUMBER, COUNT, TABLE, LIST, MESSAGES };

static const char *const kinds[] = {
    [TEXT] = "a string that is not empty",
    [KEY] = ("a name of " QUESTION_KEY_RULE),
    [NUMBER] = "a number",
    [COUNT] = "an integer above 0",
    [TABLE] = "a table of named fields",
    [LIST] = "a list",
    [MESSAGES] = "a string, or a list of at least one {role=, content=}",
};

/* An optional or required option in the table of options. */
struct option {
	const char *key;
	const char *sent_as;
	enum kind kind;
	bool must;
	lua_Integer max; /* of COUNT */
};

static const struct option elicit_options[] = {
    {"message", "message", TEXT, true, 0},
    {"schema", "requestedSchema", TABLE, true, 0},
    {"timeout", "timeoutMs", COUNT, false, TIMEOUT_MAX_MS},
    {"key", "key", KEY, false, 0},
};

static const struct option sample_options[] = {
    {"messages", "messages", MESSAGES, true, 0},
    {"maxTokens", "maxTokens", COUNT, true, TOKENS_MAX},
    {"systemPrompt", "systemPrompt", TEXT, false, 0},
    {"temperature", "temperature", NUMBER, false, 0},
    {"stopSequences", "stopSequences", LIST, false, 0},
    {"modelPreferences", "modelPreferences", TABLE, false, 0},
    {"includeContext", "includeContext", TEXT, false, 0},
    {"metadata", "metadata", TABLE, false, 0},
    {"tools", "tools", LIST, false, 0},
    {"toolChoice", "toolChoice", TABLE, false, 0},
    {"timeout", "timeoutMs", COUNT, false, TIMEOUT_MAX_MS},
    {"key", "key", KEY, false, 0},
};

static const struct option roots_options[] = {
    {"timeout", "timeoutMs", COUNT, false, TIMEOUT_MAX_MS},
    {"key", "key", KEY, false, 0},
};

struct asking {
	const char *what;
	const struct option *options;
	size_t count;
};

static const struct asking elicit = {"run.elicit", elicit_options,
				     ARRAY_LEN(elicit_options)};
static const struct asking sample = {"run.sample", sample_options,
				     ARRAY_LEN(sample_options)};
static const struct asking roots = {"run.roots", roots_options,
				    ARRAY_LEN(roots_options)};

/* Is the value a table but no list: empty, or with a string key? */
static bool has_key_name(lua_State *L, int idx)
{
	return lua_istable(L, idx) && lua_rawlen(L, idx) == 0 &&
	       !lua_json_is_array(L, idx);
}

/* Is the value a table without string keys? Such a table is marked as an array. */
static bool is_list(lua_State *L, int idx)
{
	bool list = true;

	idx = lua_absindex(L, idx);
	if (!lua_istable(L, idx))
		return false;
	lua_pushnil(L);
	while (lua_next(L, idx)) {
		list = list && lua_isinteger(L, -2);
		lua_pop(L, 1);
	}
	if (list && !lua_getmetatable(L, idx))
		lua_json_mark_array(L, idx);
	else if (list)
		lua_pop(L, 1);
	return list;
}

static bool is_message(lua_State *L, int idx)
{
	bool is = false;

	if (push_string(L, idx, "role")) {
		const char *role = lua_tostring(L, -1);

		is =
		    strcmp(role, "user") == 0 || strcmp(role, "assistant") == 0;
		lua_pop(L, 1);
	}
	if (!is)
		return false;
	is = lua_getfield(L, idx, "content") == LUA_TTABLE;
	lua_pop(L, 1);
	return is;
}

/* Is the value on top a list of messages? A plain text is converted. */
static bool is_messages(lua_State *L)
{
	lua_Unsigned n;
	bool all = true;

	if (lua_type(L, -1) == LUA_TSTRING) {
		lua_createtable(L, 0, 2); /* the content */
		lua_insert(L, -2);
		lua_setfield(L, -2, "text");
		lua_pushliteral(L, "text");
		lua_setfield(L, -2, "type");
		lua_createtable(L, 0, 2); /* the message */
		lua_insert(L, -2);
		lua_setfield(L, -2, "content");
		lua_pushliteral(L, "user");
		lua_setfield(L, -2, "role");
		lua_createtable(L, 1, 0);
		lua_insert(L, -2);
		lua_rawseti(L, -2, 1);
	}
	if (!is_list(L, -1))
		return false;
	n = lua_rawlen(L, -1);
	for (lua_Unsigned i = 1; all && i <= n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i);
		all = is_message(L, lua_gettop(L));
		lua_pop(L, 1);
	}
	return all && n > 0;
}

static bool is_kind(lua_State *L, const struct option *o)
{
	switch (o->kind) {
	case TEXT:
		return lua_type(L, -1) == LUA_TSTRING && lua_rawlen(L, -1) > 0;
	case KEY:
		return lua_type(L, -1) == LUA_TSTRING &&
		       question_key_ok(lua_tostring(L, -1),
				       (size_t)lua_rawlen(L, -1));
	case NUMBER:
		return lua_type(L, -1) == LUA_TNUMBER;
	case COUNT:
		return lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 &&
		       lua_tointeger(L, -1) <= o->max;
	case TABLE:
		return has_key_name(L, -1);
	case LIST:
		return is_list(L, -1);
	case MESSAGES:
		return is_messages(L);
	}
	return false;
}

static bool knows(const struct asking *a, const char *key)
{
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->options[i].key, key) == 0)
			return true;
	return false;
}

static int refuse_option(lua_State *L, const struct asking *a, const char *key)
{
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (size_t i = 0; i < a->count; i++) {
		luaL_addstring(&b, i > 0 ? ", " : "");
		luaL_addstring(&b, a->options[i].key);
	}
	luaL_pushresult(&b);
	return luaL_error(L, "%s knows no option %s; it takes %s", a->what, key,
			  lua_tostring(L, -1));
}

/* Push the parameters of the request, from the options at 1. */
static void push_params(lua_State *L, const struct asking *a)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		const char *key =
		    lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "1";

		if (!knows(a, key))
			refuse_option(L, a, key);
		lua_pop(L, 1);
	}
	lua_createtable(L, 0, (int)a->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct option *o = &a->options[i];

		if (lua_getfield(L, 1, o->key) == LUA_TNIL && !o->must) {
			lua_pop(L, 1);
			continue;
		}
		if (!is_kind(L, o))
			luaL_error(L, "%s: %s must be %s%s", a->what, o->key,
				   kinds[o->kind],
				   o->kind == COUNT
				       ? lua_pushfstring(L, ", up to %I",
							 (LUAI_UACINT)o->max)
				       : "");
		lua_setfield(L, -2, o->sent_as);
	}
}

/* ---- the schema of a form ---- */

/* Check that the schema on top is of an object whose properties a form can show. */
static void check_form(lua_State *L)
{
	int schema = lua_gettop(L);

	if (!push_string(L, schema, "type") ||
	    strcmp(lua_tostring(L, -1), "object") != 0)
		luaL_error(L, "run.elicit: schema.type must be \"object\": the "
			      "answer is an object with the fields of a form");
	lua_getfield(L, schema, "properties");
	if (!has_key_name(L, -1))
		luaL_error(L,
			   "run.elicit: schema.properties must be %s, which "
			   "may be empty",
			   kinds[TABLE]);
	lua_pushnil(L);
	while (lua_next(L, -2)) {
		if (!push_string(L, lua_gettop(L), "type") ||
		    !words_have("string number integer boolean array",
				lua_tostring(L, -1)))
			luaL_error(L,
				   "run.elicit: schema.properties.%s must have "
				   "the type string, number, integer, boolean "
				   "or array: a form has no others",
				   lua_type(L, -3) == LUA_TSTRING
				       ? lua_tostring(L, -3)
				       : "?");
		lua_pop(L, 2);
	}
	lua_settop(L, schema);
}

int lua_ask_elicit(lua_State *L)
{
	push_params(L, &elicit);
	lua_getfield(L, -1, "requestedSchema");
	check_form(L);
	lua_pop(L, 1);
	return ask_with(L, ELICIT, elicit.what);
}

int lua_ask_sample(lua_State *L)
{
	push_params(L, &sample);
	return ask_with(L, SAMPLE, sample.what);
}

/* Put an empty table in place of nil at IDX. */
static void default_table(lua_State *L, int idx)
{
	if (!lua_isnil(L, idx))
		return;
	lua_createtable(L, 0, 0);
	lua_replace(L, idx);
}

int lua_ask_roots(lua_State *L)
{
	lua_settop(L, 1);
	default_table(L, 1);
	push_params(L, &roots);
	return ask_with(L, ROOTS, roots.what);
}

int lua_ask_call(lua_State *L)
{
	size_t n;
	const char *tool = luaL_checklstring(L, 1, &n);

	luaL_argcheck(L, text_is_name(tool, n, MSG_NAME_MAX), 1,
		      "a tool's name is 1 to 256 bytes of UTF-8 without "
		      "control characters");
	lua_settop(L, 2);
	default_table(L, 2);
	if (!has_key_name(L, 2))
		return luaL_error(L, "run.call: the arguments must be %s",
				  kinds[TABLE]);
	return ask_with(L, CALL, "run.call");
}

int lua_ask_template(lua_State *L)
{
	static const char *const args[] = {"templateId", "inputs", "options"};

	luaL_checktype(L, 1, LUA_TSTRING);
	lua_settop(L, 3);
	default_table(L, 2);
	default_table(L, 3);
	if (!has_key_name(L, 2) || !has_key_name(L, 3))
		return luaL_error(L,
				  "run.template: inputs and options must be %s",
				  kinds[TABLE]);
	lua_createtable(L, 0, ARRAY_LEN(args));
	for (int i = 0; i < (int)ARRAY_LEN(args); i++) {
		lua_pushvalue(L, i + 1);
		lua_setfield(L, -2, args[i]);
	}
	lua_pushliteral(L, "run_task_template");
	lua_replace(L, AT_TOOL);
	return ask_with(L, TEMPLATE, "run.template");
}

int lua_ask_search(lua_State *L)
{
	static const char *const options[] = {"limit", "detail"};

	luaL_checktype(L, 1, LUA_TSTRING);
	lua_settop(L, 2);
	default_table(L, 2);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_createtable(L, 0, 1 + ARRAY_LEN(options));
	lua_pushvalue(L, 1);
	lua_setfield(L, -2, "query");
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		lua_getfield(L, 2, options[i]);
		lua_setfield(L, -2, options[i]);
	}
	lua_pushliteral(L, "search_task_templates");
	lua_replace(L, AT_TOOL);
	return ask_with(L, SEARCH, "run.search");
}
