/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_decode.c - JSON text to Lua values, for run.json.decode(), inputs and
 * answers. Anything but strict JSON raises an error with the byte at which it
 * is wrong.
 */
#include "worker/lua/json/lua_json.h"

#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/hex.h"
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

static const char *digits(struct decoder *d, const char *p)
{
	if (!digit(*p)) {
		d->p = p;
		refuse(d, "expected a digit");
	}
	while (digit(*p))
		p++;
	return p;
}

static void push_double(struct decoder *d)
{
	double v = strtod(d->p, NULL);

	if (!isfinite(v))
		refuse(d, "a number beyond what a double holds");
	lua_pushnumber(d->L, v);
}

static void get_number(struct decoder *d)
{
	const char *p = d->p + (*d->p == '-');
	bool integer = true;

	if (*p == '0' && digit(p[1])) {
		d->p = p;
		refuse(d, "a number with a leading zero");
	}
	p = digits(d, p);
	if (*p == '.') {
		p = digits(d, p + 1);
		integer = false;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p = digits(d, p + (*p == '+' || *p == '-'));
		integer = false;
	}
	if (integer) {
		long long v;

		errno = 0;
		v = strtoll(d->p, NULL, 10);
		integer = errno == 0 && (v != 0 || *d->p != '-');
		if (integer)
			lua_pushinteger(d->L, v);
	}
	if (!integer) /* or too big for one, or -0 */
		push_double(d);
	d->p = p;
}

/* At the u of \uXXXX, or of a surrogate pair. */
static uint32_t get_unicode(struct decoder *d)
{
	/* a NUL is no digit, so it stops there */
	int32_t c = hex_read(d->p + 1, 4), low;

	if (c < 0)
		refuse(d, "\\u takes four hexadecimal digits");
	if (c < 0xD800 || c > 0xDFFF) {
		d->p += 5;
		return (uint32_t)c;
	}
	low = d->p[5] == '\\' && d->p[6] == 'u' ? hex_read(d->p + 7, 4) : -1;
	if (c > 0xDBFF || low < 0xDC00 || low > 0xDFFF)
		refuse(d, "a lone surrogate");
	d->p += 11;
	return 0x10000 + ((uint32_t)(c - 0xD800) << 10) +
	       (uint32_t)(low - 0xDC00);
}

/* After a backslash. */
static size_t get_escape(struct decoder *d, char *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (*d->p == 'u')
		return utf8_put(out, get_unicode(d));
	at = *d->p == '\0' ? NULL : strchr(from, *d->p);
	if (at == NULL)
		return (size_t)refuse(d, "an unknown escape");
	d->p++;
	*out = to[at - from];
	return 1;
}

/* The closing quote of the string at P, past its opening one. */
static const char *string_end(struct decoder *d, bool *escaped)
{
	const char *p = d->p;

	for (; *p != '"'; p++) {
		if ((unsigned char)*p < 0x20) {
			d->p = p;
			refuse(d, "a control character in a string");
		}
		if (*p == '\\') {
			*escaped = true;
			if (*++p == '\0')
				p--; /* the loop sees it */
		}
	}
	return p;
}

static void push_unescaped(struct decoder *d, const char *end)
{
	luaL_Buffer b;
	/* no escape is longer than its text */
	char *out = luaL_buffinitsize(d->L, &b, (size_t)(end - d->p));
	size_t n = 0;

	while (d->p < end) {
		const char *stop = memchr(d->p, '\\', (size_t)(end - d->p));
		size_t run = (size_t)((stop != NULL ? stop : end) - d->p);

		memcpy(out + n, d->p, run);
		n += run;
		d->p += run;
		if (d->p < end) {
			d->p++;
			n += get_escape(d, out + n);
		}
	}
	luaL_pushresultsize(&b, n);
}

/* Past the opening quote. */
static void get_string(struct decoder *d)
{
	bool escaped = false;
	const char *end = string_end(d, &escaped);
	size_t n = (size_t)(end - d->p), good = utf8_valid_len(d->p, n);

	if (good < n) {
		d->p += good;
		refuse(d, "a string that is not UTF-8");
	}
	if (escaped)
		push_unescaped(d, end);
	else
		lua_pushlstring(d->L, d->p, n);
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
