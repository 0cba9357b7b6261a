/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_pack.c - objects from a list of their members, for all code answering in
 * JSON. A list not fitting SPEC fails an assertion; there is no other failure:
 * SPEC and the arguments stand in one line of our code, whatever values the
 * arguments have.
 */
#include "proto/json/json_pack.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#define NAME_MAX_BYTES ((size_t)64)

static const struct json_pack_arg *take_arg(const struct json_pack_arg **args,
					    enum json_pack_type type)
{
	const struct json_pack_arg *arg = (*args)++;

	assert(arg->is == type ||
	       (type == JSON_PACK_INT && arg->is == JSON_PACK_UINT));
	return arg;
}

static struct json_object *value(char kind, bool optional,
				 const struct json_pack_arg **args)
{
	const struct json_pack_arg *arg;
	const char *s;
	int64_t len;
	bool yes;

	switch (kind) {
	case 's':
		s = take_arg(args, JSON_PACK_TEXT)->s;
		return s == NULL ? NULL : json_text_new(s);
	case 'S':
		s = take_arg(args, JSON_PACK_TEXT)->s;
		len = take_arg(args, JSON_PACK_INT)->i;
		assert(len >= 0 && len <= INT_MAX);
		return s == NULL ? NULL : json_text_of(s, (size_t)len);
	case 'i':
		arg = take_arg(args, JSON_PACK_INT);
		if (optional &&
		    (arg->is == JSON_PACK_UINT ? arg->u == 0 : arg->i <= 0))
			return NULL;
		return arg->is == JSON_PACK_UINT
			   ? json_object_new_uint64(arg->u)
			   : json_object_new_int64(arg->i);
	case 'b':
		yes = take_arg(args, JSON_PACK_INT)->i != 0;
		return optional && !yes ? NULL : json_object_new_boolean(yes);
	case 'O':
		return json_object_get(take_arg(args, JSON_PACK_TREE)->o);
	default:
		assert(kind == 'o');
		return take_arg(args, JSON_PACK_TREE)->o;
	}
}

static void add_members(struct json_object *o, const char *spec,
			const struct json_pack_arg *args, unsigned flags)
{
	char name[NAME_MAX_BYTES];

	while (*spec != '\0') {
		struct json_object *v;
		bool optional;
		size_t n = 0;

		for (; *spec != ':' && *spec != '?'; spec++) {
			assert(*spec != '\0' && n < sizeof(name) - 1);
			name[n++] = *spec;
		}
		name[n] = '\0';
		optional = *spec == '?';
		v = value(spec[1], optional, &args);
		if (v != NULL || !optional)
			json_object_object_add_ex(o, name, v, flags);
		spec += spec[2] == ' ' ? 3 : 2;
	}
	assert(args->is == JSON_PACK_END);
}

struct json_object *json_pack_args(const char *spec,
				   const struct json_pack_arg *args)
{
	struct json_object *o = json_object_new_object();

	add_members(o, spec, args, JSON_C_OBJECT_ADD_KEY_IS_NEW);
	return o;
}

void json_add_args(struct json_object *o, const char *spec,
		   const struct json_pack_arg *args)
{
	add_members(o, spec, args, 0);
}

struct json_object *json_unpack(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(JSON_PACK_DEPTH_MAX);
	struct json_object *o = NULL;

	if (tok == NULL || len > INT_MAX)
		goto out;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(tok, text, (int)len);
	if (json_tokener_get_error(tok) != json_tokener_success ||
	    !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
out:
	if (tok != NULL)
		json_tokener_free(tok);
	return o;
}
