/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_encode.c - Lua values to JSON text, for run.json.encode(), results, replies and
 * questions. A value that JSON does not have raises an error with the path of the value;
 * text beyond a maximum is counted and not kept.
 */
#include "worker/lua/json/lua_json.h"

#include <lauxlib.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

#define NUMBER_MAX 32	  /* characters */
#define EXACT_MAX 0x1p53  /* smaller integral doubles are exact */
#define FIRST_BYTES 1024u /* most texts fit without an allocation */
#define KEYS_ON_STACK 24u
#define PATH_MAX_BYTES 200

/* A table in progress, with a link to the outer table: the path for errors. */
struct level {
	const struct level *up;
	const void *table;
	const char *key;   /* the key in an object; NULL: in an array */
	lua_Integer index; /* the index in an array */
	unsigned depth;
};

struct encoder {
	lua_State *L;
	char *p;
	size_t n;
	size_t size;
	size_t max;
	size_t total; /* the value of n without a maximum */
	int room;     /* stack index of the userdata with P */
};

static void grow(struct encoder *e, size_t n)
{
	size_t size = e->size;
	char *p;

	while (size - e->n < n) {
		if (size > SIZE_MAX / 2)
			luaL_error(e->L, "not enough memory");
		size *= 2;
	}
	p = lua_newuserdatauv(e->L, size, 0);
	memcpy(p, e->p, e->n);
	lua_replace(e->L, e->room);
	e->p = p;
	e->size = size;
}

/* Append N bytes; bytes beyond max are only counted. */
static void encode_bytes(struct encoder *e, const char *p, size_t n)
{
	e->total += n;
	if (e->total > e->max)
		return;
	if (e->size - e->n < n)
		grow(e, n);
	memcpy(e->p + e->n, p, n);
	e->n += n;
}

static void put_char(struct encoder *e, char c)
{
	encode_bytes(e, &c, 1);
}

static size_t add_level(char *out, size_t n, const struct level *at)
{
	if (at->up != NULL)
		n = add_level(out, n, at->up);
	if (n >= PATH_MAX_BYTES)
		return n;
	if (at->key != NULL)
		n += (size_t)snprintf(out + n, PATH_MAX_BYTES - n, "/%s",
				      at->key);
	else
		n += (size_t)snprintf(out + n, PATH_MAX_BYTES - n, "/%lld",
				      (long long)at->index - 1);
	return n < PATH_MAX_BYTES ? n : PATH_MAX_BYTES;
}

/* Raise "WHAT at /rows/3/name". */
static int refuse_value(struct encoder *e, const struct level *at,
			const char *what)
{
	char path[PATH_MAX_BYTES + 1] = "";

	if (at == NULL)
		return luaL_error(e->L, "%s cannot be JSON", what);
	add_level(path, 0, at);
	return luaL_error(e->L, "%s cannot be JSON, at %s", what, path);
}

static void put_escape(struct encoder *e, unsigned char c)
{
	static const char short_form[] = {
	    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
	    ['\r'] = 'r', ['"'] = '"',	['\\'] = '\\'};
	char u[8];

	if (short_form[c] != '\0') {
		put_char(e, '\\');
		put_char(e, short_form[c]);
		return;
	}
	(void)snprintf(u, sizeof(u), "\\u%04x", c);
	encode_bytes(e, u, 6);
}

static void put_string(struct encoder *e, const char *p, size_t n)
{
	put_char(e, '"');
	while (n > 0) {
		size_t run = 0;

		while (run < n && (unsigned char)p[run] >= 0x20 &&
		       p[run] != '"' && p[run] != '\\')
			run++;
		encode_bytes(e, p, run);
		if (run < n)
			put_escape(e, (unsigned char)p[run++]);
		p += run;
		n -= run;
	}
	put_char(e, '"');
}

static void encode_lua_number(struct encoder *e, const struct level *at,
			      int idx)
{
	double d = lua_tonumber(e->L, idx);
	char text[NUMBER_MAX];

	if (lua_isinteger(e->L, idx)) {
		(void)snprintf(text, sizeof(text), "%lld",
			       (long long)lua_tointeger(e->L, idx));
	} else if (!isfinite(d)) {
		refuse_value(e, at, isnan(d) ? "a NaN" : "an infinite number");
	} else if (fabs(d) < EXACT_MAX && trunc(d) == d) {
		(void)snprintf(text, sizeof(text), "%.0f", d);
	} else {
		/* the fewest digits that parse to the same number */
		for (int digits = 15; digits <= 17; digits++) {
			(void)snprintf(text, sizeof(text), "%.*g", digits, d);
			if (strtod(text, NULL) == d)
				break;
		}
	}
	encode_bytes(e, text, strlen(text));
}

static void encode_value(struct encoder *e, const struct level *up, int idx);

struct key {
	const char *p;
	size_t n;
	int idx; /* stack index */
};

static int by_bytes(const struct key *x, const struct key *y)
{
	int c = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return c != 0 ? c : (x->n > y->n) - (x->n < y->n);
}

/* Make a heap of KEYS[I] and the elements below, of the first N keys. */
static void sift(struct key *keys, size_t i, size_t n)
{
	for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
		struct key top = keys[i];

		if (child + 1 < n &&
		    by_bytes(&keys[child], &keys[child + 1]) < 0)
			child++;
		if (by_bytes(&top, &keys[child]) >= 0)
			return;
		keys[i] = keys[child];
		keys[child] = top;
		i = child;
	}
}

/*
 * Push the table's N keys, which are strings, sorted in place, since the filter denies the
 * call by which qsort(3) sizes its memory.
 */
static void push_keys(struct encoder *e, int table, struct key *keys, size_t n)
{
	lua_State *L = e->L;
	size_t i = 0;

	lua_pushnil(L);
	while (i < n && lua_next(L, table)) {
		lua_pop(L, 1);
		keys[i].p = lua_tolstring(L, -1, &keys[i].n);
		keys[i].idx = lua_gettop(L);
		/* lua_next takes a copy */
		lua_pushvalue(L, -1);
		i++;
	}
	for (i = n / 2; i-- > 0;)
		sift(keys, i, n);
	for (size_t last = n; last-- > 1;) {
		struct key top = keys[0];

		keys[0] = keys[last];
		keys[last] = top;
		sift(keys, 0, last);
	}
}

static void put_object(struct encoder *e, struct level *at, int table, size_t n)
{
	struct key on_stack[KEYS_ON_STACK], *keys = on_stack;
	lua_State *L = e->L;
	int top = lua_gettop(L);

	if (!lua_checkstack(L, n > INT32_MAX / 2 ? INT32_MAX / 2 : (int)n + 8))
		refuse_value(e, at->up, "a table with so many keys");
	if (n > KEYS_ON_STACK)
		keys = lua_newuserdatauv(L, n * sizeof(*keys), 0);
	push_keys(e, table, keys, n);
	put_char(e, '{');
	for (size_t i = 0; i < n; i++) {
		at->key = keys[i].p;
		if (!utf8_ok(keys[i].p, keys[i].n) ||
		    memchr(keys[i].p, '\0', keys[i].n) != NULL)
			refuse_value(e, at->up,
				     "a key that is not UTF-8 without NUL");
		if (i > 0)
			put_char(e, ',');
		put_string(e, keys[i].p, keys[i].n);
		put_char(e, ':');
		lua_pushvalue(L, keys[i].idx);
		lua_rawget(L, table);
		encode_value(e, at, lua_gettop(L));
		lua_pop(L, 1);
	}
	put_char(e, '}');
	lua_settop(L, top);
}

static void put_array(struct encoder *e, struct level *at, int table, size_t n)
{
	lua_State *L = e->L;

	put_char(e, '[');
	for (size_t i = 1; i <= n; i++) {
		at->index = (lua_Integer)i;
		if (i > 1)
			put_char(e, ',');
		lua_rawgeti(L, table, at->index);
		encode_value(e, at, lua_gettop(L));
		lua_pop(L, 1);
	}
	put_char(e, ']');
}

struct keys {
	size_t strings;
	size_t integers;
	lua_Integer lowest;
	lua_Integer highest;
};

static void count_keys(struct encoder *e, const struct level *at, int table,
		       struct keys *k)
{
	lua_State *L = e->L;

	lua_pushnil(L);
	while (lua_next(L, table)) {
		lua_pop(L, 1);
		if (lua_type(L, -1) == LUA_TSTRING) {
			k->strings++;
		} else if (lua_isinteger(L, -1)) {
			lua_Integer i = lua_tointeger(L, -1);

			if (k->integers++ == 0)
				k->lowest = k->highest = i;
			else if (i < k->lowest)
				k->lowest = i;
			else if (i > k->highest)
				k->highest = i;
		} else {
			lua_pushfstring(L, "a table with a key of type %s",
					luaL_typename(L, -1));
			refuse_value(e, at, lua_tostring(L, -1));
		}
	}
}

/* Is the table an array, not an object? */
static bool is_array(struct encoder *e, const struct level *at, int table,
		     const struct keys *k)
{
	lua_State *L = e->L;
	bool marked = lua_json_is_array(L, table);

	if (k->strings > 0 && (marked || k->integers > 0))
		refuse_value(e, at,
			     marked ? "an array with named fields"
				    : "a table with both integer keys and "
				      "named fields");
	if (k->integers > 0 &&
	    (k->lowest != 1 || (lua_Unsigned)k->highest != k->integers)) {
		lua_pushfstring(L,
				"a table with %I integer keys from %I to %I "
				"(a list has 1 to its length)",
				(LUAI_UACINT)k->integers,
				(LUAI_UACINT)k->lowest,
				(LUAI_UACINT)k->highest);
		refuse_value(e, at, lua_tostring(L, -1));
	}
	return marked || k->integers > 0;
}

static void put_table(struct encoder *e, const struct level *up, int idx)
{
	struct level at = {.up = up, .table = lua_topointer(e->L, idx)};
	struct keys k = {0};

	at.depth = up == NULL ? 1 : up->depth + 1;
	for (const struct level *l = up; l != NULL; l = l->up)
		if (l->table == at.table)
			refuse_value(e, up, "a table that contains itself");
	if (at.depth > LUA_JSON_DEPTH_MAX)
		refuse_value(e, up, "a table more than 64 levels deep");
	luaL_checkstack(e->L, 16, "too many levels");
	count_keys(e, up, idx, &k);
	if (is_array(e, up, idx, &k))
		put_array(e, &at, idx, k.integers);
	else
		put_object(e, &at, idx, k.strings);
}

static void encode_value(struct encoder *e, const struct level *up, int idx)
{
	lua_State *L = e->L;
	const char *p;
	size_t n;

	switch (lua_type(L, idx)) {
	case LUA_TNIL:
		encode_bytes(e, "null", 4);
		break;
	case LUA_TBOOLEAN:
		p = lua_toboolean(L, idx) ? "true" : "false";
		encode_bytes(e, p, strlen(p));
		break;
	case LUA_TNUMBER:
		encode_lua_number(e, up, idx);
		break;
	case LUA_TSTRING:
		p = lua_tolstring(L, idx, &n);
		if (!utf8_ok(p, n))
			refuse_value(e, up,
				     "a string that is not UTF-8 (encode bytes "
				     "by run.base64.encode)");
		put_string(e, p, n);
		break;
	case LUA_TTABLE:
		put_table(e, up, idx);
		break;
	default:
		if (!lua_json_is_null(L, idx)) {
			lua_pushfstring(L, "a %s", luaL_typename(L, idx));
			refuse_value(e, up, lua_tostring(L, -1));
		}
		encode_bytes(e, "null", 4);
	}
}

bool lua_json_encode(lua_State *L, int idx, size_t max, size_t *len)
{
	char first[FIRST_BYTES];
	struct encoder e = {
	    .L = L, .p = first, .size = sizeof(first), .max = max};

	idx = lua_absindex(L, idx);
	lua_pushnil(L);
	e.room = lua_gettop(L);
	encode_value(&e, NULL, idx);
	*len = e.total;
	if (e.total > max) {
		lua_settop(L, e.room - 1);
		return false;
	}
	lua_pushlstring(L, e.p, e.n);
	lua_replace(L, e.room);
	lua_settop(L, e.room);
	return true;
}
