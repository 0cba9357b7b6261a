/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_type.c - reads types, members and elements from a schema, following
 * $ref and alternatives, for input.c and schema_outline.c. If the schema does
 * not say, the result is empty, and the server decides.
 */
#include "cli/ask/input_type.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"

#define REFS_MAX 16 /* references in a row, or nested alternatives */

static const struct {
	const char *name;
	unsigned types;
	const char *shown;
} names[] = {
    {"null", INPUT_NULL, "null"},
    {"boolean", INPUT_BOOLEAN, "true or false"},
    {"number", INPUT_NUMBER | INPUT_INTEGER, "a number"},
    {"integer", INPUT_INTEGER, "an integer"},
    {"string", INPUT_STRING, "a text"},
    {"array", INPUT_ARRAY, "a JSON array"},
    {"object", INPUT_OBJECT, "a JSON object"},
};

void input_type_names(char out[INPUT_TYPES_SIZE], unsigned types)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if ((types & names[i].types) != names[i].types)
			continue;
		types &= ~names[i].types;
		at += (size_t)snprintf(out + at, INPUT_TYPES_SIZE - at, "%s%s",
				       at > 0 ? " or " : "", names[i].shown);
	}
}

unsigned input_type_of(struct json_object *v)
{
	double d;

	switch (json_object_get_type(v)) {
	case json_type_null:
		return INPUT_NULL;
	case json_type_boolean:
		return INPUT_BOOLEAN;
	case json_type_int:
		return INPUT_INTEGER;
	case json_type_double:
		d = json_object_get_double(v);
		return floor(d) == d ? INPUT_INTEGER : INPUT_NUMBER;
	case json_type_string:
		return INPUT_STRING;
	case json_type_array:
		return INPUT_ARRAY;
	case json_type_object:
		return INPUT_OBJECT;
	}
	return 0;
}

/* ---- $ref ---- */

/* Return the target of POINTER ("/$defs/a") in ROOT; no escapes decoded. */
static struct json_object *walk_pointer(struct json_object *root,
					const char *pointer)
{
	struct json_object *at = root;

	while (*pointer == '/' && at != NULL) {
		size_t n = strcspn(++pointer, "/");
		char key[128];

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, pointer, n);
		key[n] = '\0';
		at = json_member(at, key);
		pointer += n;
	}
	return at;
}

struct json_object *input_resolve(struct json_object *root,
				  struct json_object *schema)
{
	for (int i = 0; i < REFS_MAX; i++) {
		const char *ref = json_member_str(schema, "$ref");

		if (ref == NULL || ref[0] != '#')
			return schema;
		schema = walk_pointer(root, ref + 1);
	}
	return NULL;
}

/* ---- types ---- */

static unsigned type_bits(struct json_object *type)
{
	const char *name = json_object_is_type(type, json_type_string)
			       ? json_object_get_string(type)
			       : "";

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].types;
	return 0;
}

static unsigned of_all(struct json_object *list,
		       unsigned (*of)(struct json_object *))
{
	unsigned types = 0;

	json_each(one, list)
		types |= of(one);
	return types;
}

static unsigned types_at(struct json_object *root, struct json_object *schema,
			 int depth);

/*
 * Return the types that any branch of LIST (anyOf, oneOf, allOf) allows; a
 * branch without types is ignored.
 */
static unsigned of_branches(struct json_object *root, struct json_object *list,
			    int depth)
{
	unsigned types = 0;

	json_each(one, list)
		types |= types_at(root, one, depth + 1);
	return types;
}

static unsigned types_at(struct json_object *root, struct json_object *schema,
			 int depth)
{
	struct json_object *s = input_resolve(root, schema);
	struct json_object *type = json_member(s, "type"), *v;
	unsigned types;

	if (depth > REFS_MAX)
		return 0;
	if (json_object_is_type(type, json_type_array))
		return of_all(type, type_bits);
	if (type != NULL)
		return type_bits(type);
	v = json_member(s, "enum");
	if (json_object_is_type(v, json_type_array))
		return of_all(v, input_type_of);
	v = json_member(s, "const");
	if (v != NULL)
		return input_type_of(v);
	types = of_branches(root, json_member(s, "anyOf"), depth);
	if (types == 0)
		types = of_branches(root, json_member(s, "oneOf"), depth);
	if (types == 0)
		types = of_branches(root, json_member(s, "allOf"), depth);
	if (types == 0 && json_member(s, "properties") != NULL)
		types = INPUT_OBJECT;
	return types;
}

unsigned input_types(struct json_object *root, struct json_object *schema)
{
	return types_at(root, schema, 0);
}

/* ---- members, elements ---- */

struct json_object *input_property(struct json_object *root,
				   struct json_object *schema, const char *key,
				   bool *closed)
{
	struct json_object *s = input_resolve(root, schema);
	struct json_object *own =
	    json_member(json_member(s, "properties"), key);
	struct json_object *rest;
	bool patterns = json_member(s, "patternProperties") != NULL;

	if (closed != NULL)
		*closed = false;
	if (own != NULL)
		return own;
	if (patterns ||
	    !json_object_object_get_ex(s, "additionalProperties", &rest))
		return NULL;
	if (json_object_is_type(rest, json_type_object))
		return rest;
	if (closed != NULL)
		*closed = json_object_is_type(rest, json_type_boolean) &&
			  !json_object_get_boolean(rest);
	return NULL;
}

struct json_object *input_items(struct json_object *root,
				struct json_object *schema)
{
	return json_member(input_resolve(root, schema), "items");
}
