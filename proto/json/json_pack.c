/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/json/json_pack.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#define NAME_MAX_BYTES 40

static struct json_object *string_of(const char *s)
{
	return s == NULL ? NULL : json_object_new_string(s);
}

struct json_object *pack(const char *spec, ...)
{
	struct json_object *o = json_object_new_object(), *v;
	char name[NAME_MAX_BYTES];
	bool optional;
	va_list ap;

	va_start(ap, spec);
	while (*spec != '\0') {
		size_t n = strcspn(spec, ":?");

		assert(n < sizeof(name));
		memcpy(name, spec, n);
		name[n] = '\0';
		optional = spec[n] == '?';
		spec += n + 1;
		switch (*spec++) {
		case 's':
			v = string_of(va_arg(ap, const char *));
			break;
		case 'i':
			v = json_object_new_int64(va_arg(ap, int64_t));
			break;
		case 'b':
			v = json_object_new_boolean(va_arg(ap, int));
			break;
		default:
			v = va_arg(ap, struct json_object *);
		}
		if (v != NULL || !optional)
			json_object_object_add(o, name, v);
		spec += strspn(spec, " ");
	}
	va_end(ap);
	return o;
}

struct json_object *unpack(const char *text, size_t len)
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

struct json_object *member(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	if (!json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, name, &v))
		return NULL;
	return v;
}

const char *member_str(struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name);

	return json_object_is_type(v, json_type_string)
		   ? json_object_get_string(v)
		   : NULL;
}

int64_t member_int(struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name);

	return json_object_is_type(v, json_type_int) ||
		       json_object_is_type(v, json_type_double)
		   ? json_object_get_int64(v)
		   : 0;
}

bool member_bool(struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name);

	return json_object_is_type(v, json_type_boolean) &&
	       json_object_get_boolean(v);
}
