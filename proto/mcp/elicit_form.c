/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elicit_form.c - checks the schema of a form before the client shows the form
 * to a person (supervisor/mcp/input/input_request.c). A schema that clients cannot
 * show is refused, with the JSON pointer to the fault.
 */
#include "proto/mcp/elicit_form.h"

#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_is.h"

/* The kinds of a form's property; bits, since kinds share keywords. */
enum kind {
	KIND_TEXT = 1,
	KIND_NUMBER = 2,
	KIND_SWITCH = 4,
	KIND_CHOICE = 8,  /* a choice of enum's strings */
	KIND_TITLED = 16, /* a choice of oneOf, with titles */
	KIND_CHOICES = 32,
	KIND_ALL = 63,
};

/* ---- values of keywords ---- */

static bool is_length_bound(struct json_object *v)
{
	return json_object_is_type(v, json_type_int) &&
	       json_object_get_int64(v) >= 0;
}

static bool is_format(struct json_object *v)
{
	static const char *const formats[] = {"email", "uri", "date",
					      "date-time"};

	for (size_t i = 0; json_is_string(v) && i < ARRAY_LEN(formats); i++)
		if (strcmp(json_object_get_string(v), formats[i]) == 0)
			return true;
	return false;
}

static bool is_strings(struct json_object *v)
{
	return json_is_list(v, json_is_string) && json_length(v) > 0;
}

static bool is_option(struct json_object *v)
{
	return json_is_object(v) && json_object_object_length(v) == 2 &&
	       json_is_string(json_member(v, "const")) &&
	       json_is_string(json_member(v, "title"));
}

static bool is_options(struct json_object *v)
{
	return json_is_list(v, is_option) && json_length(v) > 0;
}

static bool is_items(struct json_object *v)
{
	if (!json_is_object(v))
		return false;
	if (json_member(v, "anyOf") != NULL)
		return json_object_object_length(v) == 1 &&
		       is_options(json_member(v, "anyOf"));
	return json_object_object_length(v) == 2 &&
	       json_is_string(json_member(v, "type")) &&
	       strcmp(json_member_str(v, "type"), "string") == 0 &&
	       is_strings(json_member(v, "enum"));
}

/* The legal keywords and the kinds with each; "default" is checked apart. */
static const struct keyword {
	const char *name;
	unsigned kinds;
	bool (*fits)(struct json_object *v);
	const char *expected;
} keywords[] = {
    {"type", KIND_ALL, json_is_string, "a type"},
    {"title", KIND_ALL, json_is_string, "a string"},
    {"description", KIND_ALL, json_is_string, "a string"},
    {"minLength", KIND_TEXT, is_length_bound, "a count, 0 or more"},
    {"maxLength", KIND_TEXT, is_length_bound, "a count, 0 or more"},
    {"format", KIND_TEXT, is_format,
     "email, uri, date or date-time; a form is no place for secrets"},
    {"minimum", KIND_NUMBER, json_is_number, "a number"},
    {"maximum", KIND_NUMBER, json_is_number, "a number"},
    {"enum", KIND_CHOICE, is_strings, "an array of strings, one at least"},
    {"enumNames", KIND_CHOICE, is_strings, "a name for each of enum"},
    {"oneOf", KIND_TITLED, is_options,
     "an array of {const, title}, both strings, one at least"},
    {"minItems", KIND_CHOICES, is_length_bound, "a count, 0 or more"},
    {"maxItems", KIND_CHOICES, is_length_bound, "a count, 0 or more"},
    {"items", KIND_CHOICES, is_items,
     "{type: string, enum} or {anyOf: [{const, title}]}"},
};

static const struct {
	const char *type;
	enum kind kind;
} types[] = {{"string", KIND_TEXT},
	     {"number", KIND_NUMBER},
	     {"integer", KIND_NUMBER},
	     {"boolean", KIND_SWITCH},
	     {"array", KIND_CHOICES}};

/* Return the kind of the property P, or 0 for no legal kind. */
static unsigned property_kind(struct json_object *p)
{
	const char *type = json_member_str(p, "type");
	unsigned kind = 0;

	for (size_t i = 0; type != NULL && i < ARRAY_LEN(types); i++)
		if (strcmp(type, types[i].type) == 0)
			kind = types[i].kind;
	if (kind == KIND_TEXT && json_member(p, "oneOf") != NULL)
		return KIND_TITLED;
	if (kind == KIND_TEXT && json_member(p, "enum") != NULL)
		return KIND_CHOICE;
	return kind;
}

/* ---- defaults ---- */

/* Is V among OPTIONS: strings, or {const, title}? */
static bool among(struct json_object *options, struct json_object *v)
{
	json_each(o, options) {
		struct json_object *c = json_member(o, "const");

		if (json_object_equal(c != NULL ? c : o, v))
			return true;
	}
	return false;
}

static struct json_object *property_options(struct json_object *p)
{
	static const char *const where[] = {"enum", "oneOf", "anyOf"};
	struct json_object *items = json_member(p, "items");
	struct json_object *in = items != NULL ? items : p;

	for (size_t i = 0; i < ARRAY_LEN(where); i++)
		if (json_member(in, where[i]) != NULL)
			return json_member(in, where[i]);
	return NULL;
}

static bool default_fits(struct json_object *p, unsigned kind,
			 struct json_object *v)
{
	bool whole = strcmp(json_member_str(p, "type"), "integer") == 0;

	switch (kind) {
	case KIND_TEXT:
		return json_is_string(v);
	case KIND_NUMBER:
		return whole ? json_object_is_type(v, json_type_int)
			     : json_is_number(v);
	case KIND_SWITCH:
		return json_object_is_type(v, json_type_boolean);
	case KIND_CHOICES:
		if (!json_object_is_type(v, json_type_array))
			return false;
		json_each(one, v)
			if (!among(property_options(p), one))
				return false;
		return true;
	default:
		return among(property_options(p), v);
	}
}

/* ---- a property, and the form ---- */

static bool check_keyword(const char *key, struct json_object *v, unsigned kind,
			  struct pointer_error *f)
{
	if (strcmp(key, "default") == 0)
		return true; /* checked last, when all other keywords are
				right */
	if (strcmp(key, "writeOnly") == 0)
		return pointer_error_at(
		    f, key, "no secret: a form is no place for those");
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
		const struct keyword *k = &keywords[i];

		if ((k->kinds & kind) == 0 || strcmp(k->name, key) != 0)
			continue;
		return k->fits(v) || pointer_error_at(f, key, k->expected);
	}
	return pointer_error_at(f, key,
				"no such keyword for a property of this kind");
}

static bool check_property(struct json_object *p, struct pointer_error *f)
{
	unsigned kind = property_kind(p);
	struct json_object *names = json_member(p, "enumNames");
	struct json_object *v;

	if (kind == 0)
		return pointer_error_at(
		    f, NULL,
		    "a property of type string, number, integer, "
		    "boolean, or an array of choices");
	json_object_object_foreach(p, key, value)
		if (!check_keyword(key, value, kind, f))
			return false;
	if (kind == KIND_CHOICES && json_member(p, "items") == NULL)
		return pointer_error_at(f, NULL,
					"an array with items to choose from");
	if (names != NULL &&
	    json_object_array_length(names) !=
		json_object_array_length(json_member(p, "enum")))
		return pointer_error_at(f, "enumNames",
					"a name for each of enum");
	if (json_object_object_get_ex(p, "default", &v) &&
	    !default_fits(p, kind, v))
		return pointer_error_at(f, "default",
					"a value that the property takes");
	return true;
}

static bool check_required(struct json_object *names,
			   struct json_object *properties,
			   struct pointer_error *f)
{
	if (names == NULL)
		return true;
	if (!json_object_is_type(names, json_type_array))
		return pointer_error_at(f, "required",
					"an array of properties' names");
	if (json_object_array_length(names) > ELICIT_FORM_PROPERTIES_MAX)
		return pointer_error_at(f, "required",
					"each property's name once");
	json_each(name, names)
		if (!json_is_string(name) ||
		    json_member(properties, json_object_get_string(name)) ==
			NULL)
			return pointer_error_at(
			    f, "required",
			    "names of properties that there are");
	return true;
}

static bool check_top(struct json_object *schema, struct pointer_error *f)
{
	static const char *const keys[] = {"$schema", "type", "properties",
					   "required"};
	const char *type = json_member_str(schema, "type");

	if (type == NULL || strcmp(type, "object") != 0)
		return pointer_error_at(f, NULL, "a schema of type object");
	json_object_object_foreach(schema, key, value) {
		bool known = false;

		(void)value;
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			known = known || strcmp(keys[i], key) == 0;
		if (!known)
			return pointer_error_at(
			    f, key, "type, properties and required alone");
	}
	if (!json_object_is_type(json_member(schema, "properties"),
				 json_type_object))
		return pointer_error_at(f, "properties",
					"an object of properties");
	return true;
}

/* Is the form small enough for a person to fill in? */
static bool check_size(struct json_object *properties, struct pointer_error *f)
{
	size_t choices = 0;

	if (json_object_object_length(properties) > ELICIT_FORM_PROPERTIES_MAX)
		return pointer_error_at(f, "properties",
					"100 properties at the most");
	json_object_object_foreach(properties, key, p) {
		struct json_object *options = property_options(p);
		struct json_object *chosen = json_member(p, "default");

		(void)key;
		if (json_object_is_type(options, json_type_array))
			choices += json_object_array_length(options);
		if (choices > ELICIT_FORM_CHOICES_MAX)
			return pointer_error_at(
			    f, "properties",
			    "properties with 1000 choices at the "
			    "most, together");
		if (json_object_is_type(chosen, json_type_array) &&
		    json_object_array_length(chosen) > ELICIT_FORM_DEFAULTS_MAX)
			return pointer_error_at(
			    f, "properties",
			    "properties with 100 choices in their "
			    "default at the most");
	}
	return true;
}

bool elicit_form_check(struct json_object *schema, struct pointer_error *f)
{
	struct json_object *properties = json_member(schema, "properties");

	*f = (struct pointer_error){0};
	if (!check_top(schema, f) || !check_size(properties, f))
		return false;
	json_object_object_foreach(properties, key, p) {
		*f = (struct pointer_error){0};
		pointer_error_point(f, "properties");
		pointer_error_point(f, key);
		if (!check_property(p, f))
			return false;
	}
	*f = (struct pointer_error){0};
	return check_required(json_member(schema, "required"), properties, f);
}

const char *elicit_form_newer(struct json_object *schema)
{
	json_object_object_foreach(json_member(schema, "properties"), key, p)
		if ((property_kind(p) & (KIND_TITLED | KIND_CHOICES)) != 0)
			return key;
	return NULL;
}
