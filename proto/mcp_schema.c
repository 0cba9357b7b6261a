/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/mcp_schema.h"

#include <stdbool.h>
#include <string.h>

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
