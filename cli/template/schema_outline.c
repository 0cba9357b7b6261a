/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_outline.c - prints schemas for "template show". Schemas are untrusted:
 * their words are cleaned and folded, and a schema inside itself is opened only
 * so far. Keywords without a short form (not, if, dependentSchemas) are left
 * out; --json shows everything.
 */
#include "cli/template/schema_outline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/terminal.h"
#include "cli/ask/input_type.h"
#include "proto/json/json.h"

#define DEPTH_MAX 6
#define OPEN_MAX 32 /* nested schemas, alternatives included */
#define MEMBERS_MAX 1000
#define INDENT 2	/* per level */
#define NOTE_INDENT 4	/* of a description, from the name */
#define TEXT_COLUMNS 40 /* of a value, name or pattern */

struct outline {
	struct json_object *root;
	size_t columns;
	unsigned left; /* members that may still be shown */
	/* the schemas around this place, outermost first */
	struct json_object *open[OPEN_MAX];
	unsigned n_open;
};

/* ---- the description of a value ---- */

static void add_cut(struct buf *b, const char *text)
{
	sanitize_add(b, text, strlen(text), TEXT_COLUMNS);
}

/* Append the bounds of S: ", 1 to 5 elements", ", at least 1 characters". */
static void add_range(struct buf *b, struct json_object *s, const char *from,
		      const char *to, const char *of)
{
	struct json_object *least = json_member(s, from);
	struct json_object *most = json_member(s, to);
	const char *low = least != NULL ? json_text(least, NULL) : NULL;

	if (low != NULL && strcmp(low, "0") == 0 && of[0] != '\0')
		low = NULL; /* 0 says nothing about a count */
	if (low != NULL && most != NULL &&
	    strcmp(low, json_text(most, NULL)) == 0)
		buf_printf(b, ", exactly %s%s", low, of);
	else if (low != NULL && most != NULL)
		buf_printf(b, ", %s to %s%s", low, json_text(most, NULL), of);
	else if (low != NULL)
		buf_printf(b, ", at least %s%s", low, of);
	else if (most != NULL)
		buf_printf(b, ", at most %s%s", json_text(most, NULL), of);
}

static void add_word(struct buf *b, struct json_object *s, const char *key,
		     const char *as)
{
	const char *word = json_member_str(s, key);

	if (word == NULL)
		return;
	buf_add_str(b, as);
	add_cut(b, word);
}

static void add_bounds(struct buf *b, struct json_object *s)
{
	struct json_object *above = json_member(s, "exclusiveMinimum");
	struct json_object *below = json_member(s, "exclusiveMaximum");

	add_range(b, s, "minimum", "maximum", "");
	if (above != NULL)
		buf_printf(b, ", above %s", json_text(above, NULL));
	if (below != NULL)
		buf_printf(b, ", below %s", json_text(below, NULL));
	add_range(b, s, "minLength", "maxLength", " characters");
	add_range(b, s, "minItems", "maxItems", " elements");
	add_range(b, s, "minProperties", "maxProperties", " members");
	add_word(b, s, "format", ", as ");
	add_word(b, s, "pattern", ", like ");
	if (json_member_bool(s, "uniqueItems"))
		buf_add_str(b, ", no two the same");
	if (json_member_bool(s, "writeOnly"))
		buf_add_str(b, ", secret");
}

static void add_phrase(struct buf *b, const struct outline *o,
		       struct json_object *schema)
{
	struct json_object *s = input_resolve(o->root, schema);
	struct json_object *list = json_member(s, "enum");
	struct json_object *fixed = json_member(s, "const");
	unsigned mask = input_types(o->root, s);
	char types[INPUT_TYPES_SIZE];

	if (list != NULL) {
		buf_add_str(b, "one of ");
		for (size_t i = 0; i < json_length(list); i++) {
			buf_add_str(b, i > 0 ? ", " : "");
			add_cut(b, json_text(json_object_array_get_idx(list, i),
					     NULL));
		}
	} else if (fixed != NULL) {
		buf_add_str(b, "always ");
		add_cut(b, json_text(fixed, NULL));
	} else if (mask != 0) {
		input_type_names(types, mask);
		buf_add_str(b, types);
	} else {
		buf_add_str(b, "any JSON");
	}
	add_bounds(b, s);
}

/* ---- members ---- */

static void show_value(struct outline *o, struct json_object *schema,
		       unsigned depth);

static bool in_list(struct json_object *list, const char *name)
{
	json_each(one, list) {
		const char *s = json_object_get_string(one);

		if (s != NULL && strcmp(s, name) == 0)
			return true;
	}
	return false;
}

/* Print "  name  an integer, 1 to 5, else 3", description and members. */
static void show_member(struct outline *o, struct json_object *of,
			const char *name, struct json_object *schema,
			unsigned depth)
{
	struct json_object *s = input_resolve(o->root, schema), *given;
	size_t indent = (size_t)depth * INDENT, note = indent + NOTE_INDENT;
	const char *about = json_member_str(schema, "description");
	struct buf b = {0};
	size_t at;

	if (o->left == 0)
		return;
	if (--o->left == 0) {
		safe_printf("  and more, which --json shows\n");
		return;
	}
	add_cut(&b, name);
	at = indent + sanitize_width(buf_data(&b), buf_len(&b)) + 2;
	safe_printf("%*s%.*s  ", (int)indent, "", (int)buf_len(&b),
		    buf_data(&b));
	buf_fini(&b);
	add_phrase(&b, o, schema);
	if (in_list(json_member(of, "required"), name))
		buf_add_str(&b, ", required");
	else if (json_object_object_get_ex(s, "default", &given)) {
		buf_add_str(&b, ", else ");
		add_cut(&b, json_text(given, NULL));
	}
	if (input_items(o->root, s) != NULL) {
		buf_add_str(&b, "; each is ");
		add_phrase(&b, o, input_items(o->root, s));
	}
	buf_add(&b, "", 1);
	text_wrap_print(buf_data(&b), at, note, o->columns);
	buf_fini(&b);
	if (about == NULL)
		about = json_member_str(s, "description");
	if (about != NULL) {
		safe_printf("%*s", (int)note, "");
		text_wrap_print(about, note, note, o->columns);
	}
	show_value(o, s, depth + 1);
}

static void show_members(struct outline *o, struct json_object *s,
			 unsigned depth)
{
	struct json_object *list = json_member(s, "properties");
	struct json_object *rest = json_member(s, "additionalProperties");

	if (json_object_is_type(list, json_type_object)) {
		json_object_object_foreach(list, name, schema)
			show_member(o, s, name, schema, depth);
	}
	list = json_member(s, "patternProperties");
	if (json_object_is_type(list, json_type_object)) {
		json_object_object_foreach(list, pattern, schema) {
			char *name = xasprintf("any name like %s", pattern);

			show_member(o, NULL, name, schema, depth);
			free(name);
		}
	}
	if (json_object_is_type(rest, json_type_object) &&
	    json_object_object_length(rest) > 0)
		show_member(o, NULL, "any other name", rest, depth);
}

static bool has_members(const struct outline *o, struct json_object *schema)
{
	struct json_object *s = input_resolve(o->root, schema);

	return json_member(s, "properties") != NULL ||
	       json_member(s, "patternProperties") != NULL;
}

/* Print alternatives that have members; types are described already. */
static void show_branches(struct outline *o, struct json_object *list,
			  unsigned depth)
{
	const char *word = "either";
	size_t open = 0;

	json_each(one, list)
		open += has_members(o, one);
	json_each(s, list) {
		if (!has_members(o, s))
			continue;
		if (open > 1)
			safe_printf("%*s%s\n", (int)(depth * INDENT), "", word);
		show_value(o, s, open > 1 ? depth + 1 : depth);
		word = "or";
	}
}

/* Is S inside itself, or nested too deep to be opened? */
static bool goes_round(const struct outline *o, struct json_object *s,
		       unsigned depth)
{
	for (unsigned i = 0; i < o->n_open; i++)
		if (o->open[i] == s)
			return true;
	return depth > DEPTH_MAX || o->n_open == OPEN_MAX;
}

/* Print the members within a value of SCHEMA, or within its elements. */
static void show_value(struct outline *o, struct json_object *schema,
		       unsigned depth)
{
	struct json_object *s = input_resolve(o->root, schema);

	if (s == NULL || o->left == 0)
		return;
	if (goes_round(o, s, depth)) {
		if (has_members(o, s))
			safe_printf("%*s...\n", (int)(depth * INDENT), "");
		return;
	}
	o->open[o->n_open++] = s;
	show_members(o, s, depth);
	json_each(one, json_member(s, "allOf"))
		show_value(o, one, depth);
	show_branches(o, json_member(s, "anyOf"), depth);
	show_branches(o, json_member(s, "oneOf"), depth);
	if (input_items(o->root, s) != NULL)
		show_value(o, input_items(o->root, s), depth);
	o->n_open--;
}

void schema_outline_print(const char *title, struct json_object *schema)
{
	struct outline o = {.root = schema,
			    .columns = text_wrap_columns(STDOUT_FILENO),
			    .left = MEMBERS_MAX};
	struct json_object *s = input_resolve(schema, schema);

	if (!has_members(&o, s) && input_items(schema, s) == NULL &&
	    json_length(json_member(s, "anyOf")) == 0 &&
	    json_length(json_member(s, "oneOf")) == 0 &&
	    json_length(json_member(s, "allOf")) == 0)
		return;
	safe_printf("\n%s:\n", title);
	show_value(&o, s, 1);
}
