/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_schema.c - adapts a tool's schemas to MCP hosts: leaves out or rewrites
 * the parts refused or spoiled by hosts. A client that refuses one schema may
 * lose all tools of the list. Arguments and results are checked by the
 * template's own schema, so a shown schema may allow more, but never less.
 */
#include "proto/mcp/mcp_schema.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/schema/schema_format.h"

#define MOVED_TO "/anyOf/0"
#define DEFAULT_DIALECT "https://json-schema.org/draft/2020-12/schema"

/*
 * Keywords left out at the top of a tool's arguments: model providers refuse
 * them, hosts drop such tools, and LangChain makes one schema of all branches.
 * Clients have to know them from MCP 2026-07-28 on.
 */
static const char *const not_on_top[] = {
    "if",    "then",  "else", "allOf",
    "anyOf", "oneOf", "not",  "unevaluatedProperties",
    NULL};

/*
 * Keywords unknown to older drafts: a schema with any of them needs the name of
 * the dialect.
 */
static const char *const newer[] = {
    "$anchor",		"$dynamicAnchor",	 "$dynamicRef", "prefixItems",
    "dependentSchemas", "dependentRequired",	 "minContains", "maxContains",
    "unevaluatedItems", "unevaluatedProperties", NULL};

struct showing {
	struct json_object *doc; /* the root of the schema */
	const char *root;	 /* the new place of the root; "" when not
				    moved */
	bool into_top;		 /* a reference leads into a keyword of
				    not_on_top */
	bool by_name;		 /* a reference or a schema uses a name ($id) */
	bool needs_dialect;	 /* a keyword is unknown to older drafts */
	bool composed;		 /* keywords of not_on_top are shown */
};

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return false;
}

static bool leads_into(const char *pointer, const char *key)
{
	size_t n = strlen(key);

	return strncmp(pointer, "#/", 2) == 0 &&
	       strncmp(pointer + 2, key, n) == 0 &&
	       (pointer[n + 2] == '/' || pointer[n + 2] == '\0');
}

/*
 * Move REF, a pointer from the root ("#" or "#/a/b"), to the root's new place.
 */
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

/* Respell PATTERN for JavaScript, which compiles by its strict flag u. */
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

static struct json_object *shown_schema(struct showing *s,
					struct json_object *schema);

/*
 * Show the schemas of MAP, an object by names or expressions. MCP wants no true
 * or false there, but {}, which allows all, and {"not": {}}: the official
 * inspector calls such a tool's schema not portable.
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
			? json_pack("not?o", json_object_get_boolean(schema)
						 ? NULL
						 : json_object_new_object())
			: shown_schema(s, schema);
		json_object_object_add(o, key, v);
		free(key);
	}
	return o;
}

/*
 * Show V, the value of KEYWORD. Data is not changed. In a map, a name is never
 * taken for a keyword.
 */
static struct json_object *value_shown(struct showing *s, const char *keyword,
				       struct json_object *v)
{
	static const char maps[] = "properties patternProperties $defs "
				   "definitions dependentSchemas dependencies";
	struct json_object *o;

	if (words_have("$ref $dynamicRef", keyword))
		return shown_ref(s, v);
	if (words_have("const enum default examples", keyword))
		return json_object_get(v);
	if (strcmp(keyword, "pattern") == 0)
		return shown_pattern(v);
	if (json_object_is_type(v, json_type_array)) {
		o = json_object_new_array();
		json_each(schema, v)
			json_object_array_add(o, shown_schema(s, schema));
		return o;
	}
	if (words_have(maps, keyword) &&
	    json_object_is_type(v, json_type_object))
		return map_shown(s, keyword, v);
	return shown_schema(s, v);
}

/*
 * Show SCHEMA. An inner schema with an $id is the root of its own references,
 * so it stays as it is.
 */
static struct json_object *shown_schema(struct showing *s,
					struct json_object *schema)
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

/*
 * Return the dialect, or NULL for the default: clients with an older draft
 * stumble over the default's name.
 */
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
	struct json_object *o = shown_schema(&s, schema);

	if (dialect_of(schema) == NULL && !s.needs_dialect)
		json_object_object_del(o, "$schema");
	if (!s.by_name) /* two tools may have the same $id */
		json_object_object_del(o, "$id");
	for (const char *const *key = not_on_top; *key != NULL; key++)
		if (!s.into_top && !s.by_name && !s.composed)
			json_object_object_del(o, *key);
	return o;
}

struct json_object *mcp_schema_either(struct json_object *schema,
				      struct json_object *other)
{
	struct showing s = {.doc = schema, .root = MOVED_TO};
	struct json_object *either = json_object_new_array_ext(2);
	struct json_object *o = shown_schema(&s, schema);

	/* only the root names the dialect */
	json_object_object_del(o, "$schema");
	json_object_object_del(o, "$id");
	/*
	 * Show a schema that uses names as any object: a client that cannot find a schema
	 * by its name lists no tool at all.
	 */
	if (s.by_name) {
		json_object_put(o);
		o = json_pack("type:s", "object");
	}
	json_object_array_add(either, o);
	json_object_array_add(either, json_object_get(other));
	return json_pack("$schema?O type:s anyOf:o", dialect_of(schema),
			 "object", either);
}
