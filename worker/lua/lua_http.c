/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_http.c - run.http(), for lua_api.c: a request by the run's child of paddock-egress,
 * which alone reaches hosts and checks each request. A request that is refused or fails
 * raises an error with the code of paddock-egress; any status of a host is an answer.
 */
#include "worker/lua/lua_http.h"

#include <lauxlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ipc/egress_proto.h"
#include "worker/channel.h"
#include "worker/lua/http/host_exchange.h"
#include "worker/lua/json/lua_json.h"
#include "worker/lua/lua_sched.h"
#include "worker/lua/lua_steps.h"
#include "worker/lua/state/lua_error.h"
#include "worker/signals.h"

#define URL_MAX 8192u
#define METHOD_MAX 23u
#define TIMEOUT_MS 60000
#define TIMEOUT_MAX_MS 604800000 /* a week: no run is that long */
#define SLACK_MS 2000		 /* for paddock-egress to say that it is late */

/* The address is the registry's key of the request that is being written. */
static char request;

/* Stack indexes: the options, then the request's parts. */
enum { AT_OPTIONS = 1, AT_REQUEST = 1, AT_TIMEOUT = 2, AT_TO_HEAD = 3 };

/* ---- options ---- */

static int wrong(lua_State *L, const char *key, const char *must)
{
	return luaL_error(L, "run.http: %s must be %s", key, must);
}

static void check_keys(lua_State *L)
{
	static const char *const known[] = {"url", "method", "headers", "body",
					    "timeout"};

	lua_pushnil(L);
	while (lua_next(L, AT_OPTIONS)) {
		const char *key =
		    lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
		size_t i = 0;

		while (i < ARRAY_LEN(known) && strcmp(key, known[i]) != 0)
			i++;
		if (i == ARRAY_LEN(known))
			luaL_error(L,
				   "run.http takes url, method, headers, body "
				   "and timeout, not %s",
				   key);
		lua_pop(L, 1);
	}
}

/* Leave the option KEY, a string, on the stack; OTHERWISE NULL: p is NULL if absent. */
static struct str text_option(lua_State *L, const char *key,
			      const char *otherwise)
{
	struct str s = {otherwise, otherwise != NULL ? strlen(otherwise) : 0};

	lua_getfield(L, AT_OPTIONS, key);
	if (lua_type(L, -1) == LUA_TSTRING)
		s.p = lua_tolstring(L, -1, &s.n);
	else if (!lua_isnil(L, -1))
		wrong(L, key, "a string");
	return s;
}

/* Return the host of URL with its port, if any. */
static struct str check_url(lua_State *L, struct str url)
{
	static const char *const schemes[] = {"http://", "https://"};
	size_t skip = 0;

	for (size_t i = 0; i < ARRAY_LEN(schemes) && url.p != NULL; i++)
		if (strncmp(url.p, schemes[i], strlen(schemes[i])) == 0)
			skip = strlen(schemes[i]);
	if (skip == 0 || url.n > URL_MAX)
		wrong(L, "url",
		      "an address that begins with http:// or https://, of at "
		      "most 8192 bytes");
	for (size_t i = 0; i < url.n; i++)
		if (url.p[i] <= ' ' || url.p[i] > '~' || url.p[i] == '#')
			wrong(L, "url",
			      "in ASCII, without blanks and without #: other "
			      "characters are written as %XX");
	return (struct str){url.p + skip, strcspn(url.p + skip, "/?")};
}

static struct str check_method(lua_State *L)
{
	struct str method = text_option(L, "method", "GET");
	bool good = method.n > 0 && method.n <= METHOD_MAX;

	for (size_t i = 0; i < method.n; i++)
		good = good && ((method.p[i] >= 'A' && method.p[i] <= 'Z') ||
				method.p[i] == '-');
	if (!good || strcmp(method.p, "CONNECT") == 0)
		wrong(L, "method", "a method in capitals, but not CONNECT");
	return method;
}

static lua_Integer check_timeout(lua_State *L)
{
	lua_Integer ms = TIMEOUT_MS;
	int good = 1;

	if (lua_getfield(L, AT_OPTIONS, "timeout") != LUA_TNIL)
		ms = lua_tointegerx(L, -1, &good);
	if (!good || ms < 1 || ms > TIMEOUT_MAX_MS)
		wrong(L, "timeout", "a whole number of milliseconds above 0");
	lua_pop(L, 1);
	return ms;
}

/* Fields that say how far a message goes, or that the connection is about. */
static bool is_reserved(struct str name)
{
	static const char *const names[] = {"Host",
					    "Content-Length",
					    "Transfer-Encoding",
					    "Connection",
					    "Proxy-Connection",
					    "Proxy-Authorization",
					    "Keep-Alive",
					    "TE",
					    "Trailer",
					    "Upgrade",
					    "Expect",
					    "Paddock-Error",
					    "Proxy-Authenticate",
					    "Paddock-Timeout-Ms"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (http_is(name, names[i]))
			return true;
	return false;
}

static bool is_value(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' && s.p[i] != '\t')
			return false;
	return memchr(s.p, 0x7f, s.n) == NULL;
}

/* Append the field at -2 and -1 of the stack as a text, at -3. */
static void add_field(lua_State *L)
{
	struct str name = {NULL, 0}, value = {NULL, 0};

	if (lua_type(L, -2) == LUA_TSTRING)
		name.p = lua_tolstring(L, -2, &name.n);
	if (lua_type(L, -1) == LUA_TSTRING || lua_type(L, -1) == LUA_TNUMBER)
		value.p = lua_tolstring(L, -1, &value.n);
	if (name.p == NULL || !http_is_token(name) || value.p == NULL ||
	    !is_value(value))
		wrong(L, "headers",
		      "a table of names and values without control characters");
	if (is_reserved(name))
		luaL_error(L, "run.http: the header %s is paddock's to write",
			   name.p);
	lua_pushvalue(L, -3);
	lua_pushfstring(L, "%s: ", name.p);
	lua_pushvalue(L, -3);
	lua_pushliteral(L, "\r\n");
	lua_concat(L, 4);
	lua_replace(L, -4);
}

/* Push the fields of the option headers as a text. */
static void push_fields(lua_State *L)
{
	int table;

	lua_getfield(L, AT_OPTIONS, "headers");
	table = lua_gettop(L);
	if (lua_isnil(L, table)) {
		lua_pushliteral(L, "");
		return;
	}
	if (!lua_istable(L, table))
		wrong(L, "headers", "a table");
	lua_pushliteral(L, "");
	lua_pushnil(L);
	while (lua_next(L, table)) {
		add_field(L);
		lua_pop(L, 1);
	}
}

/* Replace the options by the request, the timeout and whether the method is HEAD. */
static void make_request(lua_State *L)
{
	lua_Integer ms = check_timeout(L);
	struct str method = check_method(L), url = text_option(L, "url", NULL);
	struct str host = check_url(L, url),
		   body = text_option(L, "body", NULL);
	bool to_head = http_is(method, "HEAD");
	int before = lua_gettop(L);

	lua_pushfstring(L, "%s %s HTTP/1.1\r\nHost: ", method.p, url.p);
	lua_pushlstring(L, host.p, host.n);
	lua_pushfstring(L, "\r\nPaddock-Timeout-Ms: %I\r\n", (LUAI_UACINT)ms);
	push_fields(L);
	lua_remove(L, -2); /* the table of headers */
	if (body.p != NULL)
		lua_pushfstring(L, "Content-Length: %I\r\n\r\n",
				(LUAI_UACINT)body.n);
	else
		lua_pushliteral(L, "\r\n");
	if (body.p != NULL)
		lua_pushvalue(L, before);
	lua_concat(L, lua_gettop(L) - before);
	lua_replace(L, AT_REQUEST);
	lua_settop(L, AT_REQUEST);
	lua_pushinteger(L, ms);
	lua_pushboolean(L, to_head);
}

/* ---- the answer ---- */

/* Add the field NAME: VALUE to the table on top, in small letters. */
static void set_field(lua_State *L, struct str name, struct str value)
{
	luaL_Buffer b;
	char *to = luaL_buffinitsize(L, &b, name.n);

	for (size_t i = 0; i < name.n; i++)
		to[i] = name.p[i] >= 'A' && name.p[i] <= 'Z'
			    ? (char)(name.p[i] - 'A' + 'a')
			    : name.p[i];
	luaL_pushresultsize(&b, name.n);
	lua_pushvalue(L, -1);
	if (lua_rawget(L, -3) == LUA_TSTRING) {
		lua_pushliteral(L, ", ");
		lua_pushlstring(L, value.p, value.n);
		lua_concat(L, 3);
	} else {
		lua_pop(L, 1);
		lua_pushlstring(L, value.p, value.n);
	}
	lua_rawset(L, -3);
}

/* Push the error with CODE, which paddock-egress said; a code of its own, or none. */
static void push_refusal(lua_State *L, const char *code)
{
	size_t i = EGRESS_NO_REASON + 1;

	while (i < EGRESS_REASONS && strcmp(egress_reasons[i].code, code) != 0)
		i++;
	if (i == EGRESS_REASONS)
		lua_error_push(L, LUA_ERROR_TYPED, "NETWORK_BAD_ANSWER",
			       "paddock-egress gave no reason that is known");
	else
		lua_error_push(L, LUA_ERROR_TYPED, code, "%s",
			       egress_reasons[i].sentence);
}

/* Push the object BODY without the words of the error; raises if there is none. */
static int decode_details(lua_State *L)
{
	size_t n;
	const char *p = lua_tolstring(L, 1, &n);

	lua_json_decode(L, p, n);
	luaL_checktype(L, -1, LUA_TTABLE);
	lua_pushnil(L);
	lua_setfield(L, -2, "error");
	lua_pushnil(L);
	lua_setfield(L, -2, "message");
	return 1;
}

/* Push the error of the answer A, which has the object BODY unless it was cut. */
static void push_error(lua_State *L, const struct http_answer *a,
		       struct str body)
{
	push_refusal(L, a->refused);
	lua_pushcfunction(L, decode_details);
	lua_pushlstring(L, body.p, body.n);
	if (a->trailers == 0 && lua_pcall(L, 1, 1, 0) == LUA_OK)
		lua_setfield(L, -2, "details");
	else
		lua_settop(L, 1);
}

/* Push the answer as a table, or the error. */
static int push_answer(lua_State *L)
{
	struct str body, name, value;
	const struct http_answer *a = host_exchange_answer(&body);
	size_t at = 0;

	if (a == NULL) {
		lua_error_push(L, LUA_ERROR_TYPED, "NETWORK_LOST",
			       "the run's part of paddock-egress has ended");
		return 1;
	}
	if (body.p == NULL)
		return lua_error_memory(L);
	if (a->refused[0] != '\0') {
		push_error(L, a, body);
		return 1;
	}
	lua_createtable(L, 0, 3);
	lua_pushinteger(L, a->status);
	lua_setfield(L, -2, "status");
	lua_newtable(L);
	while (http_answer_field(a, &at, &name, &value))
		if (!http_is(name, "Transfer-Encoding"))
			set_field(L, name, value);
	lua_setfield(L, -2, "headers");
	lua_pushlstring(L, body.p, body.n);
	lua_setfield(L, -2, "body");
	lua_pushboolean(L, true);
	return 2;
}

/* ---- the exchange ---- */

static bool is_free(void *arg)
{
	(void)arg;
	return host_exchange_is_free();
}

static bool is_over(void *arg)
{
	(void)arg;
	return host_exchange_is_over();
}

/* Continue when the answer has come, or when the wait ended early. */
static int on_over(lua_State *L, int status, lua_KContext ctx)
{
	int top = lua_gettop(L), rc;

	(void)status, (void)ctx;
	if (!host_exchange_is_over()) {
		host_exchange_leave();
		lua_sched_check(L);
		if (signals_cancelled())
			return lua_error_cancelled(L);
		push_refusal(L, egress_reasons[EGRESS_SLOW].code);
		return lua_error(L);
	}
	lua_pushcfunction(L, push_answer);
	rc = lua_pcall(L, 0, LUA_MULTRET, 0);
	host_exchange_leave();
	if (rc != LUA_OK || lua_gettop(L) == top + 1)
		return lua_error(L);
	lua_pop(L, 1);
	return 1;
}

/* Send the request, once no other request is on the way, and wait. */
static int send_request(lua_State *L, int status, lua_KContext ctx)
{
	struct lua_wait w = {.until_us = INT64_MAX, .light = true};
	struct str text;

	(void)status;
	lua_sched_check(L);
	if (signals_cancelled())
		return lua_error_cancelled(L);
	if (channel_stream_is_open() && !host_exchange_is_free()) {
		w.over = is_free;
		return lua_sched_wait(L, &w, ctx, send_request);
	}
	if (!channel_stream_is_open()) {
		lua_error_push(L, LUA_ERROR_TYPED, "NETWORK_LOST",
			       "the run's part of paddock-egress has ended");
		return lua_error(L);
	}
	lua_pushvalue(L, AT_REQUEST);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &request);
	text.p = lua_tolstring(L, AT_REQUEST, &text.n);
	host_exchange_begin(text, lua_toboolean(L, AT_TO_HEAD));
	w.over = is_over;
	w.until_us =
	    clock_mono_us() + (lua_tointeger(L, AT_TIMEOUT) + SLACK_MS) * 1000;
	return lua_sched_wait(L, &w, ctx, on_over);
}

int lua_http_http(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	check_keys(L);
	make_request(L);
	lua_steps_need_task(L);
	if (!channel_stream_has_begun()) {
		lua_error_push(
		    L, LUA_ERROR_TYPED, egress_reasons[EGRESS_NOT_GRANTED].code,
		    "the run has no network: the template has to ask "
		    "for the host in permissions.network, and the "
		    "operator to grant the host");
		return lua_error(L);
	}
	return send_request(L, LUA_OK, 0);
}
