/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hosts refuse, or spoil, is left out or spelt in another way when a tool
 * shows its schemas: one schema that a client cannot take may cost it all
 * tools of the list. Arguments and results are checked against what the
 * template says, so a schema that is shown may say less, and never more.
 */
#include "proto/mcp/mcp_schema.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/schema/schema_format.h"

#define MOVED_TO "/anyOf/0"
#define DEFAULT_DIALECT "https://json-schema.org/draft/2020-12/schema"

/*
 * At the top of a tool's arguments: providers of models refuse these, hosts
 * leave such tools out, and LangChain makes one schema of all branches. From
 * MCP 2026-07-28 on clients have to know them.
 */
static const char *const not_on_top[] = {
    "if",    "then",  "else", "allOf",
    "anyOf", "oneOf", "not",  "unevaluatedProperties",
    NULL};

/* What older drafts do not have: without its dialect it says something else. */
static const char *const newer[] = {
    "$anchor",		"$dynamicAnchor",	 "$dynamicRef", "prefixItems",
    "dependentSchemas", "dependentRequired",	 "minContains", "maxContains",
    "unevaluatedItems", "unevaluatedProperties", NULL};

struct showing {
	struct json_object *doc; /* the root */
	const char *root;	 /* where it has gone; "" when it has not */
	bool into_top;		 /* a reference leads into one of the above */
	bool by_name;		 /* or to a schema by its own name */
	bool needs_dialect;	 /* it has what older drafts do not know */
	bool composed;		 /* what hosts refused is shown all the same */
};

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return false;
}

/* {} allows all, {"not": {}} nothing. */
static struct json_object *in_words(bool allows)
{
	return json_pack("not?o", allows ? NULL : json_object_new_object());
}

static bool leads_into(const char *pointer, const char *key)
{
	size_t n = strlen(key);

	return strncmp(pointer, "#/", 2) == 0 &&
	       strncmp(pointer + 2, key, n) == 0 &&
	       (pointer[n + 2] == '/' || pointer[n + 2] == '\0');
}

/* A pointer from the root, "#" or "#/…": it begins where the root has gone. */
static struct json_object *shown_ref(struct showing *s, struct json_object *ref)
{
	const char *text = json_object_get_string(ref);
	struct json_object *o;
	char *moved;

	if (!json_object_is_type(ref, json_type_string) || text[0] != '#')
		s->by_name = true;
	if (s->by_name || (text[1] != '\0' && text[1] != '/'))
		return json_object_get(ref);
	for (const char *const *key = not_on_top; *key != NULL; key++)
		s->into_top = s->into_top || leads_into(text, *key);
	moved = xasprintf("#%s%s", s->root, text + 1);
	o = json_object_new_string(moved);
	free(moved);
	return o;
}

/* JavaScript compiles them with the flag u, which knows no leniency. */
static char *strict(const char *pattern, size_t len)
{
	char *text = schema_regex_strict(pattern, len);

	return text != NULL ? text : xstrndup(pattern, len);
}

static struct json_object *shown_pattern(struct json_object *pattern)
{
	struct json_object *o;
	char *text;

	if (!json_object_is_type(pattern, json_type_string))
		return json_object_get(pattern);
	text = strict(json_object_get_string(pattern),
		      (size_t)json_object_get_string_len(pattern));
	o = json_object_new_string(text);
	free(text);
	return o;
}

static struct json_object *shown(struct showing *s, struct json_object *schema);

static struct json_object *each_shown(struct showing *s,
				      struct json_object *list)
{
	struct json_object *o = json_object_new_array();

	json_each(schema, list)
		json_object_array_add(o, shown(s, schema));
	return o;
}

/*
 * Schemas by name, or by an expression; MCP wants no true or false there, or
 * the official inspector calls the tool's schema one that is not portable.
 */
static struct json_object *map_shown(struct showing *s, const char *keyword,
				     struct json_object *map)
{
	bool patterns = strcmp(keyword, "patternProperties") == 0;
	bool words = patterns || strcmp(keyword, "properties") == 0;
	struct json_object *o = json_object_new_object(), *v;

	json_object_object_foreach(map, name, schema) {
		char *key =
		    patterns ? strict(name, strlen(name)) : xstrdup(name);

		v = words && json_object_is_type(schema, json_type_boolean)
			? in_words(json_object_get_boolean(schema))
			: shown(s, schema);
		json_object_object_add(o, key, v);
		free(key);
	}
	return o;
}

/* V, the value of KEYWORD. Only data is as it was; a name is no keyword. */
static struct json_object *value_shown(struct showing *s, const char *keyword,
				       struct json_object *v)
{
	static const char *const refs[] = {"$ref", "$dynamicRef", NULL};
	static const char *const data[] = {"const", "enum", "default",
					   "examples", NULL};
	static const char *const maps[] = {
	    "properties",	"patternProperties", "$defs", "definitions",
	    "dependentSchemas", "dependencies",	     NULL};

	if (is_one_of(keyword, refs))
		return shown_ref(s, v);
	if (is_one_of(keyword, data))
		return json_object_get(v);
	if (strcmp(keyword, "pattern") == 0)
		return shown_pattern(v);
	if (json_object_is_type(v, json_type_array))
		return each_shown(s, v);
	if (is_one_of(keyword, maps) &&
	    json_object_is_type(v, json_type_object))
		return map_shown(s, keyword, v);
	return shown(s, v);
}

/* What has an $id within the document is the root of its own references. */
static struct json_object *shown(struct showing *s, struct json_object *schema)
{
	struct json_object *o;

	if (!json_object_is_type(schema, json_type_object))
		return json_object_get(schema);
	if (schema != s->doc && json_member(schema, "$id") != NULL) {
		s->by_name = true;
		return json_object_get(schema);
	}
	o = json_object_new_object();
	json_object_object_foreach(schema, keyword, value) {
		json_object_object_add(o, keyword,
				       value_shown(s, keyword, value));
		if (is_one_of(keyword, newer) &&
		    (schema != s->doc || s->composed ||
		     !is_one_of(keyword, not_on_top)))
			s->needs_dialect = true;
	}
	return o;
}

/* Clients that know but an older draft stumble over the default's name. */
static struct json_object *dialect_of(struct json_object *schema)
{
	const char *uri = json_member_str(schema, "$schema");
	size_t n = strlen(DEFAULT_DIALECT);

	if (uri == NULL || (strncmp(uri, DEFAULT_DIALECT, n) == 0 &&
			    uri[n + strspn(uri + n, "#")] == '\0'))
		return NULL;
	return json_member(schema, "$schema");
}

struct json_object *mcp_schema_inputs(struct json_object *schema,
				      enum mcp_revision rev)
{
	struct showing s = {.doc = schema,
			    .root = "",
			    .composed = mcp_has(rev, MCP_COMPOSED_INPUTS)};
	struct json_object *o = shown(&s, schema);

	if (dialect_of(schema) == NULL && !s.needs_dialect)
		json_object_object_del(o, "$schema");
	if (!s.by_name) /* two tools may have the same */
		json_object_object_del(o, "$id");
	for (const char *const *key = not_on_top; *key != NULL; key++)
		if (!s.into_top && !s.by_name && !s.composed)
			json_object_object_del(o, *key);
	return o;
}

/* A client that cannot find a schema by its name lists no tool at all. */
static struct json_object *outputs(struct json_object *schema)
{
	struct showing s = {.doc = schema, .root = MOVED_TO};
	struct json_object *o = shown(&s, schema);

	json_object_object_del(o, "$schema"); /* the root's to say */
	json_object_object_del(o, "$id");
	if (!s.by_name)
		return o;
	json_object_put(o);
	return json_pack("type:s", "object");
}

struct json_object *mcp_schema_either(struct json_object *schema,
				      struct json_object *other)
{
	struct json_object *either = json_object_new_array_ext(2);

	json_object_array_add(either, outputs(schema));
	json_object_array_add(either, json_object_get(other));
	return json_pack("$schema?O type:s anyOf:o", dialect_of(schema),
			 "object", either);
}
