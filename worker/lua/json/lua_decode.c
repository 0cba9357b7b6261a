/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_decode.c - JSON text to Lua values, for run.json.decode(), inputs and answers.
 * Anything but strict JSON raises an error with the number of the wrong byte.
 */
#include "worker/lua/json/lua_json.h"

#include <lauxlib.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_scan.h"
#include "base/text/utf8.h"

_Static_assert(LUA_JSON_DEPTH_MAX == JSON_SCAN_DEPTH_MAX, "the same depth");

struct decoder {
	lua_State *L;
	const char *text;
	struct json_scan scan;
};

/* Raise "JSON, byte 12: WHAT". */
static int refuse_json(struct decoder *d, const char *what)
{
	LUAI_UACINT at = d->scan.p - d->text + 1;

	return luaL_error(d->L, "JSON, byte %I: %s", at,
			  d->scan.p >= d->scan.end ? "the text ends too early"
						   : what);
}

/* Raise the fault at scan.p. */
static void refuse_fault(struct decoder *d, enum json_fault fault)
{
	static const char *const errmsgs[JSON_FAULTS] = {
	    [JSON_FAULT_TOO_DEEP] = "more than 64 levels deep",
	    [JSON_FAULT_NO_DIGIT] = "expected a digit",
	    [JSON_FAULT_LEADING_ZERO] = "a number with a leading zero",
	    [JSON_FAULT_CONTROL] = "a control character in a string",
	    [JSON_FAULT_NO_END] = "the text ends too early",
	    [JSON_FAULT_NO_ESCAPE] = "an unknown escape",
	    [JSON_FAULT_NO_HEX] = "\\u takes four hexadecimal digits",
	    [JSON_FAULT_LONE_SURROGATE] = "a lone surrogate"};
	static const char *const wanted[JSON_WANTS] = {
	    [JSON_WANT_VALUE] = "expected a value",
	    [JSON_WANT_FIRST_ITEM] = "expected a value",
	    [JSON_WANT_MORE_ITEMS] = "expected , or ]",
	    [JSON_WANT_FIRST_KEY] = "expected a key in double quotes",
	    [JSON_WANT_KEY] = "expected a key in double quotes",
	    [JSON_WANT_COLON] = "expected :",
	    [JSON_WANT_MORE_MEMBERS] = "expected , or }",
	    [JSON_WANT_END] = "something follows the value"};

	/* past the bracket, and to what the backslash escapes */
	d->scan.p +=
	    fault == JSON_FAULT_TOO_DEEP || fault >= JSON_FAULT_NO_ESCAPE;
	refuse_json(d, fault == JSON_FAULT_UNWANTED ? wanted[d->scan.want]
						    : errmsgs[fault]);
}

static enum json_event next(struct decoder *d)
{
	enum json_event event = json_scan_next(&d->scan);

	if (event == JSON_FAULT)
		refuse_fault(d, d->scan.fault);
	return event;
}

static void push_number(struct decoder *d)
{
	const char *p = d->scan.token;
	uint64_t n;
	double v;

	/* -0 is no integer, and neither is a number too large for one */
	if (d->scan.integer && json_scan_integer(p, d->scan.p, &n) &&
	    (*p == '-' ? n > 0 && n <= (uint64_t)INT64_MAX + 1
		       : n <= INT64_MAX)) {
		lua_pushinteger(d->L, (lua_Integer)(*p == '-' ? 0 - n : n));
		return;
	}
	v = strtod(p, NULL);
	if (!isfinite(v)) {
		d->scan.p = p;
		refuse_json(d, "a number beyond what a double holds");
	}
	lua_pushnumber(d->L, v);
}

static void put_string(struct decoder *d)
{
	const char *from = d->scan.token + 1, *end = d->scan.p - 1;
	size_t n = (size_t)(end - from);
	size_t good = utf8_valid_len(from, n);
	enum json_fault fault;
	luaL_Buffer b;
	char *out;

	if (good < n) {
		d->scan.p = from + good;
		refuse_json(d, "a string that is not UTF-8");
	}
	if (d->scan.plain) {
		lua_pushlstring(d->L, from, n);
		return;
	}
	out = luaL_buffinitsize(d->L, &b, n);
	fault = json_scan_unescape(out, &n, &from, end);
	if (fault != JSON_FAULT_NONE) {
		d->scan.p = from;
		refuse_fault(d, fault);
	}
	luaL_pushresultsize(&b, n);
}

static void put_key(struct decoder *d)
{
	const char *key;
	size_t n;

	put_string(d);
	key = lua_tolstring(d->L, -1, &n);
	if (memchr(key, '\0', n) != NULL)
		refuse_json(d, "a key with a NUL");
	lua_pushvalue(d->L, -1);
	if (lua_rawget(d->L, -3) != LUA_TNIL)
		refuse_json(d, "the same key again");
	lua_pop(d->L, 1);
}

/* Push the value that begins with EVENT. */
static void push_value(struct decoder *d, enum json_event event)
{
	lua_Integer n = 0;

	switch (event) {
	case JSON_OBJECT:
		luaL_checkstack(d->L, 8, "too many levels");
		lua_newtable(d->L);
		while (next(d) != JSON_CLOSE) {
			put_key(d);
			push_value(d, next(d));
			lua_rawset(d->L, -3);
		}
		break;
	case JSON_ARRAY:
		luaL_checkstack(d->L, 8, "too many levels");
		lua_newtable(d->L);
		lua_json_mark_array(d->L, -1);
		while ((event = next(d)) != JSON_CLOSE) {
			push_value(d, event);
			lua_rawseti(d->L, -2, ++n);
		}
		break;
	case JSON_STRING:
		put_string(d);
		break;
	case JSON_NUMBER:
		push_number(d);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		lua_pushboolean(d->L, event == JSON_TRUE);
		break;
	default:
		lua_json_push_null(d->L);
		break;
	}
}

void lua_json_decode(lua_State *L, const char *text, size_t len)
{
	struct decoder d = {
	    .L = L, .text = text, .scan = {.p = text, .end = text + len}};

	luaL_checkstack(L, 8, "too many levels");
	push_value(&d, next(&d));
	(void)next(&d);
}
