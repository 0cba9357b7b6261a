/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/mcp_schema.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json.h"

/* {} allows all, {"not": {}} nothing. */
static struct json_object *in_words(struct json_object *schema)
{
	struct json_object *o;

	if (!json_object_is_type(schema, json_type_boolean))
		return json_object_get(schema);
	o = json_object_new_object();
	if (!json_object_get_boolean(schema))
		json_object_object_add(o, "not", json_object_new_object());
	return o;
}

static bool has_booleans(struct json_object *properties)
{
	if (!json_object_is_type(properties, json_type_object))
		return false;
	json_object_object_foreach(properties, name, schema) {
		(void)name;
		if (json_object_is_type(schema, json_type_boolean))
			return true;
	}
	return false;
}

static struct json_object *all_in_words(struct json_object *properties)
{
	struct json_object *o = json_object_new_object();

	json_object_object_foreach(properties, name, schema)
		json_object_object_add(o, name, in_words(schema));
	return o;
}

struct json_object *mcp_schema(struct json_object *schema)
{
	struct json_object *o;

	if (!has_booleans(json_member(schema, "properties")))
		return json_object_get(schema);
	o = json_object_new_object();
	json_object_object_foreach(schema, key, value)
		json_object_object_add(o, key,
				       strcmp(key, "properties") == 0
					   ? all_in_words(value)
					   : json_object_get(value));
	return o;
}

/* ---- one of two ---- */

#define MOVED_TO "/anyOf/0"
#define DEFAULT_DIALECT "https://json-schema.org/draft/2020-12/schema"

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return false;
}

/* A pointer from the root, "#" or "#/…": it begins where the root has gone. */
static struct json_object *moved_ref(struct json_object *ref)
{
	const char *text = json_object_get_string(ref);
	struct json_object *o;
	char *moved;

	if (!json_object_is_type(ref, json_type_string) || text[0] != '#' ||
	    (text[1] != '\0' && text[1] != '/'))
		return json_object_get(ref);
	moved = xasprintf("#" MOVED_TO "%s", text + 1);
	o = json_object_new_string(moved);
	free(moved);
	return o;
}

static struct json_object *moved(struct json_object *schema);

static struct json_object *each_moved(struct json_object *v)
{
	struct json_object *o;

	if (json_object_is_type(v, json_type_array)) {
		o = json_object_new_array();
		for (size_t i = 0; i < json_object_array_length(v); i++)
			json_object_array_add(
			    o, moved(json_object_array_get_idx(v, i)));
		return o;
	}
	if (!json_object_is_type(v, json_type_object))
		return json_object_get(v);
	o = json_object_new_object();
	json_object_object_foreach(v, name, schema)
		json_object_object_add(o, name, moved(schema));
	return o;
}

/* V, the value of KEYWORD. Only data is as it was; a name is no keyword. */
static struct json_object *moved_value(const char *keyword, struct json_object *v)
{
	static const char *const refs[] = {"$ref", "$dynamicRef", NULL};
	static const char *const data[] = {"const", "enum", "default", "examples",
					   NULL};
	static const char *const maps[] = {"properties", "patternProperties",
					   "$defs", "definitions",
					   "dependentSchemas", "dependencies",
					   NULL};

	if (is_one_of(keyword, refs))
		return moved_ref(v);
	if (is_one_of(keyword, data))
		return json_object_get(v);
	if (is_one_of(keyword, maps) || json_object_is_type(v, json_type_array))
		return each_moved(v);
	return moved(v);
}

/* What has an $id is the root of its own references. */
static struct json_object *moved(struct json_object *schema)
{
	struct json_object *o;

	if (!json_object_is_type(schema, json_type_object) ||
	    json_member(schema, "$id") != NULL)
		return json_object_get(schema);
	o = json_object_new_object();
	json_object_object_foreach(schema, keyword, value) {
		if (strcmp(keyword, "$schema") != 0) /* the root's to say */
			json_object_object_add(o, keyword,
					       moved_value(keyword, value));
	}
	return o;
}

struct json_object *mcp_schema_either(struct json_object *schema,
				      struct json_object *other)
{
	struct json_object *o = json_object_new_object();
	struct json_object *either = json_object_new_array_ext(2);
	struct json_object *dialect = json_member(schema, "$schema");

	/* clients that know but an older draft stumble over the default's name */
	if (dialect != NULL &&
	    strcmp(json_object_get_string(dialect), DEFAULT_DIALECT) != 0)
		json_object_object_add(o, "$schema", json_object_get(dialect));
	json_object_object_add(o, "type", json_object_new_string("object"));
	json_object_array_add(either, moved(schema));
	json_object_array_add(either, json_object_get(other));
	json_object_object_add(o, "anyOf", either);
	return o;
}
