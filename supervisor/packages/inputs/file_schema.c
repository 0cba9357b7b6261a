/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_schema.c - finds the files among a template's inputs, and describes in
 * the schema what a caller may give for a file. templates/manifest.c calls it
 * once for each load. Places deeper or more numerous than the bounds below are
 * no files, and nothing else fails.
 */
#include "supervisor/packages/inputs/file_schema.h"

#include <json-c/json_pointer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"

#define DEPTH_MAX 24   /* depth of places, and of "$ref" chains */
#define LOOKS_MAX 4096 /* most subschemas visited */

/* ---- finding the places ---- */

struct find {
	struct json_object *root;
	size_t looks;
};

static void find_file_spots(struct find *f, struct json_object *schema,
			    struct file_spot *at, int depth);

void file_schema_free(struct file_spot *all)
{
	while (all != NULL) {
		struct file_spot *next = all->next;

		file_schema_free(all->below);
		free(all->key);
		free(all);
		all = next;
	}
}

static struct file_spot *find_key(const struct file_spot *in, const char *key)
{
	struct file_spot *s = in->below;

	while (s != NULL &&
	       (key == NULL || s->key == NULL ? key != s->key
					      : strcmp(s->key, key) != 0))
		s = s->next;
	return s;
}

const struct file_spot *file_schema_below(const struct file_spot *in,
					  const char *key)
{
	const struct file_spot *s = find_key(in, key);

	return s != NULL ? s : find_key(in, NULL);
}

static void look_below(struct find *f, struct json_object *schema,
		       struct file_spot *at, const char *key, int depth)
{
	struct file_spot *s = find_key(at, key);

	if (s == NULL) {
		s = xcalloc(1, sizeof(*s));
		s->key = xstrdup_opt(key);
		s->next = at->below;
		at->below = s;
	}
	find_file_spots(f, schema, s, depth);
}

static void look_members(struct find *f, struct json_object *of,
			 struct file_spot *at, bool named, int depth)
{
	if (!json_object_is_type(of, json_type_object))
		return;
	json_object_object_foreach(of, key, schema) {
		look_below(f, schema, at, named ? key : NULL, depth);
	}
}

/* Visit the subschemas of combining keywords, which describe the same place. */
static void look_combined(struct find *f, struct json_object *schema,
			  struct file_spot *at, int depth)
{
	static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
	static const char *const ones[] = {"then", "else"};
	const char *ref = json_member_str(schema, "$ref");
	struct json_object *to = NULL;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		json_each(one, json_member(schema, lists[i]))
			find_file_spots(f, one, at, depth);
	for (size_t i = 0; i < ARRAY_LEN(ones); i++)
		find_file_spots(f, json_member(schema, ones[i]), at, depth);
	if (ref != NULL && ref[0] == '#' && ref[1] == '/' &&
	    json_pointer_get(f->root, ref + 1, &to) == 0)
		find_file_spots(f, to, at, depth);
}

static void find_file_spots(struct find *f, struct json_object *schema,
			    struct file_spot *at, int depth)
{
	char key[24];
	size_t i = 0;

	if (!json_object_is_type(schema, json_type_object) ||
	    ++depth > DEPTH_MAX || ++f->looks > LOOKS_MAX)
		return;
	if (json_member_is(schema, "format", FILE_SCHEMA_FORMAT))
		at->is_file = true;
	look_combined(f, schema, at, depth);
	look_members(f, json_member(schema, "properties"), at, true, depth);
	look_members(f, json_member(schema, "patternProperties"), at, false,
		     depth);
	json_each(one, json_member(schema, "prefixItems")) {
		snprintf(key, sizeof(key), "%zu", i++);
		look_below(f, one, at, key, depth);
	}
	look_below(f, json_member(schema, "additionalProperties"), at, NULL,
		   depth);
	look_below(f, json_member(schema, "items"), at, NULL, depth);
}

/* Remove the places below S without files. Is there a file in S? */
static bool prune(struct file_spot *s)
{
	struct file_spot **link = &s->below, *one;
	bool has = s->is_file;

	while ((one = *link) != NULL) {
		if (prune(one)) {
			has = true;
			link = &one->next;
			continue;
		}
		/*
		 * A name without files must stay, lest the name counts as "any
		 * other"; the rest of the list is pruned as well.
		 */
		if (one->key != NULL) {
			link = &one->next;
			continue;
		}
		*link = one->next;
		one->next = NULL;
		file_schema_free(one);
	}
	return has;
}

struct file_spot *file_schema_find(struct json_object *schema)
{
	struct find f = {.root = schema};
	struct file_spot *all = xcalloc(1, sizeof(*all));

	find_file_spots(&f, schema, all, 0);
	all->is_file = false; /* the inputs themselves are an object */
	if (prune(all))
		return all;
	file_schema_free(all);
	return NULL;
}

/* ---- describing the files ---- */

#define NAME                                                                   \
	"\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255,"     \
	"\"description\":\"The file's name.\"}"
#define FORM(member, says, more)                                               \
	"{\"type\":\"object\",\"required\":[\"" member                         \
	"\"],\"additionalProperties\":false,\"properties\":{\"" member         \
	"\":{\"type\":\"string\"" more ",\"description\":\"" says "\"}," NAME  \
	"}}"

/*
 * The forms of a file beside the text, whose description comes from the
 * template.
 */
static const char forms[] = "[{}," FORM(
    FILE_SCHEMA_ARTIFACT,
    "The id of an artifact of yours: a file that was uploaded, or "
    "that a run made. Large files are given so.",
    ",\"pattern\":\"^art_[2-7a-z]{26}$\"") "," FORM("text", "The file's text.",
						    "") "," FORM("base64",
								 "The file's bytes, in base64.",
								 "") "]";

#define HINT                                                                   \
	"A file: its text, or {\"$artifact\": \"art_…\"} for one that was "  \
	"uploaded or that a run made, or {\"base64\": \"…\"}."

/* Keywords that describe the value in any form. */
static const char *const kept[] = {"title", "default", "examples", "writeOnly",
				   "deprecated"};

static bool is_among(const char *const *keys, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void move(struct json_object *from, struct json_object *to,
		 const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(from, key, &v))
		return;
	json_object_object_add(to, key, json_object_get(v));
	json_object_object_del(from, key);
}

/*
 * Replace format in S, a file's subschema, by anyOf; other keywords of strings
 * move into the form of a text.
 */
static void expand_one(struct json_object *s)
{
	struct json_object *text = json_object_new_object(), *any = NULL;
	const char *says = json_member_str(s, "description");
	char *description =
	    says != NULL ? xasprintf("%s %s", says, HINT) : xstrdup(HINT);
	char *keys[64];
	size_t n = 0;

	json_object_object_del(s, "format");
	json_object_object_del(s, "description");
	json_object_object_foreach(s, key, v) {
		(void)v;
		if (!is_among(kept, ARRAY_LEN(kept), key) &&
		    n < ARRAY_LEN(keys))
			keys[n++] = xstrdup(key);
	}
	for (size_t i = 0; i < n; i++) {
		move(s, text, keys[i]);
		free(keys[i]);
	}
	if (json_member(text, "type") == NULL)
		json_add(text, "type:s", "string");
	json_add(text, "description:s", "The file's text.");
	json_parse(&any, forms, sizeof(forms) - 1, NULL);
	json_object_array_put_idx(any, 0, text);
	json_add(s, "description:s anyOf:o", description, any);
	free(description);
}

void file_schema_expand(struct json_object *schema)
{
	/* keys of values, which are no schemas, whatever they look like */
	static const char *const values[] = {"const", "enum", "default",
					     "examples"};

	json_each(one, schema)
		file_schema_expand(one);
	if (!json_object_is_type(schema, json_type_object))
		return;
	json_object_object_foreach(schema, key, v) {
		if (!is_among(values, ARRAY_LEN(values), key))
			file_schema_expand(v);
	}
	if (json_member_is(schema, "format", FILE_SCHEMA_FORMAT))
		expand_one(schema);
}
