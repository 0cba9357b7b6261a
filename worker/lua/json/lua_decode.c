/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_decode.c - JSON text to Lua values, for run.json.decode(), inputs and
 * answers. Anything but strict JSON raises an error with the byte at which it
 * is wrong.
 */
#include "worker/lua/json/lua_json.h"

#include <lauxlib.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_token.h"
#include "base/text/utf8.h"

struct decoder {
	lua_State *L;
	const char *text;
	const char *p;
	const char *end; /* *end is NUL, which ends every token */
	unsigned depth;
};

static void get_value(struct decoder *d);

/* Raise "JSON, byte 12: WHAT". */
static int refuse(struct decoder *d, const char *what)
{
	LUAI_UACINT at = d->p - d->text + 1;

	return luaL_error(d->L, "JSON, byte %I: %s", at,
			  d->p >= d->end ? "the text ends too early" : what);
}

static void skip_space(struct decoder *d)
{
	while (*d->p == ' ' || *d->p == '\t' || *d->p == '\n' || *d->p == '\r')
		d->p++;
}

/* Skip white space, and C if it comes next. Did it? */
static bool take(struct decoder *d, char c)
{
	skip_space(d);
	if (*d->p != c || d->p >= d->end)
		return false;
	d->p++;
	return true;
}

static void enter(struct decoder *d)
{
	if (d->depth++ == LUA_JSON_DEPTH_MAX)
		refuse(d, "more than 64 levels deep");
	luaL_checkstack(d->L, 8, "too many levels");
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Raise what is wrong at d->p, unless nothing is. */
static void check(struct decoder *d, enum json_token_fault fault)
{
	static const char *const errmsgs[JSON_TOKEN_FAULTS] = {
	    [JSON_TOKEN_NO_DIGIT] = "expected a digit",
	    [JSON_TOKEN_LEADING_ZERO] = "a number with a leading zero",
	    [JSON_TOKEN_CONTROL] = "a control character in a string",
	    [JSON_TOKEN_NO_END] = "the text ends too early",
	    [JSON_TOKEN_NO_ESCAPE] = "an unknown escape",
	    [JSON_TOKEN_NO_HEX] = "\\u takes four hexadecimal digits",
	    [JSON_TOKEN_LONE_SURROGATE] = "a lone surrogate"};

	if (fault >= JSON_TOKEN_NO_ESCAPE)
		d->p++; /* to what the backslash escapes */
	if (fault != JSON_TOKEN_GOOD)
		refuse(d, errmsgs[fault]);
}

static void push_double(struct decoder *d, const char *p)
{
	double v = strtod(p, NULL);

	if (!isfinite(v)) {
		d->p = p;
		refuse(d, "a number beyond what a double holds");
	}
	lua_pushnumber(d->L, v);
}

static void get_number(struct decoder *d)
{
	const char *p = d->p;
	uint64_t v;
	bool integer;

	check(d, json_token_number(&d->p, d->end, &integer));
	/* -0 is none, nor what is too big for one */
	integer = integer && json_token_integer(p, d->p, &v) &&
		  (*p == '-' ? v > 0 && v <= (uint64_t)INT64_MAX + 1
			     : v <= INT64_MAX);
	if (integer)
		lua_pushinteger(d->L, (lua_Integer)(*p == '-' ? 0 - v : v));
	else
		push_double(d, p);
}

/* Past the opening quote. */
static void get_string(struct decoder *d)
{
	const char *from = d->p, *end;
	size_t n, good;
	luaL_Buffer b;
	bool plain;
	char *out;

	check(d, json_token_string(&d->p, d->end, &plain));
	end = d->p;
	n = (size_t)(end - from);
	good = utf8_valid_len(from, n);
	if (good < n) {
		d->p = from + good;
		refuse(d, "a string that is not UTF-8");
	}
	if (plain) {
		lua_pushlstring(d->L, from, n);
	} else {
		out = luaL_buffinitsize(d->L, &b, n);
		d->p = from;
		check(d, json_token_unescape(out, &n, &d->p, end));
		luaL_pushresultsize(&b, n);
	}
	d->p = end + 1;
}

static void get_array(struct decoder *d)
{
	lua_Integer n = 0;

	enter(d);
	lua_newtable(d->L);
	lua_json_mark_array(d->L, -1);
	if (!take(d, ']')) {
		do {
			get_value(d);
			lua_rawseti(d->L, -2, ++n);
		} while (take(d, ','));
		if (!take(d, ']'))
			refuse(d, "expected , or ]");
	}
	d->depth--;
}

static void get_key(struct decoder *d)
{
	const char *key;
	size_t n;

	if (!take(d, '"'))
		refuse(d, "expected a key in double quotes");
	get_string(d);
	key = lua_tolstring(d->L, -1, &n);
	if (memchr(key, '\0', n) != NULL)
		refuse(d, "a key with a NUL");
	lua_pushvalue(d->L, -1);
	if (lua_rawget(d->L, -3) != LUA_TNIL)
		refuse(d, "the same key again");
	lua_pop(d->L, 1);
	if (!take(d, ':'))
		refuse(d, "expected :");
}

static void get_object(struct decoder *d)
{
	enter(d);
	lua_newtable(d->L);
	if (!take(d, '}')) {
		do {
			get_key(d);
			get_value(d);
			lua_rawset(d->L, -3);
		} while (take(d, ','));
		if (!take(d, '}'))
			refuse(d, "expected , or }");
	}
	d->depth--;
}

static bool take_word(struct decoder *d, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(d->p, word, n) != 0)
		return false;
	d->p += n;
	return true;
}

static void get_value(struct decoder *d)
{
	skip_space(d);
	if (*d->p == '-' || digit(*d->p))
		get_number(d);
	else if (take(d, '"'))
		get_string(d);
	else if (take(d, '{'))
		get_object(d);
	else if (take(d, '['))
		get_array(d);
	else if (take_word(d, "true"))
		lua_pushboolean(d->L, true);
	else if (take_word(d, "false"))
		lua_pushboolean(d->L, false);
	else if (take_word(d, "null"))
		lua_json_push_null(d->L);
	else
		refuse(d, "expected a value");
}

void lua_json_decode(lua_State *L, const char *text, size_t len)
{
	struct decoder d = {.L = L, .text = text, .p = text, .end = text + len};

	luaL_checkstack(L, 8, "too many levels");
	get_value(&d);
	skip_space(&d);
	if (d.p < d.end)
		refuse(&d, "something follows the value");
}
