/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.c - writes schemas as types, for template_index.c. Names, values and
 * descriptions are a stranger's: names and values are quoted as JSON, and a
 * comment stays on one line. Unknown keywords are passed over.
 */
#include "supervisor/packages/search/signature.h"

#include <json-c/json_pointer.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"

#define VALUES_MAX 16	  /* values of an enum */
#define VALUE_MAX 48	  /* bytes of a value */
#define COMMENT_MAX 100	  /* bytes of a description */
#define REQUIRED_MAX 1000 /* names of "required" that count */
#define DEEPEST 5	  /* objects, arrays and references in each other */
#define STEPS_MAX 20000	  /* schemas looked at */
#define INDENT "  "
#define REST "\n" INDENT "…\n}" /* the end of a text that was cut */

/* The parts of a signature; a plainer signature is tried when the text is too long. */
static const struct plainness {
	bool comments;
	unsigned deepest;
} plain[] = {{true, DEEPEST}, {false, DEEPEST}, {false, 1}};

struct writer {
	struct buf out; /* with a bound; beyond the bound FULL is set */
	struct json_object *root;
	const struct plainness *how;
	unsigned depth;	 /* objects, arrays and references here */
	unsigned indent; /* objects here */
	unsigned steps;
	bool full;
};

static void write_type(struct writer *w, struct json_object *schema);

static void put(struct writer *w, const char *text)
{
	if (!w->full && buf_add_str(&w->out, text) < 0)
		w->full = true;
}

static void put_bytes(struct writer *w, const char *p, size_t n)
{
	if (!w->full && buf_add(&w->out, p, n) < 0)
		w->full = true;
}

/* Count a schema. False: too many schemas were looked at. */
static bool step(struct writer *w)
{
	w->full |= ++w->steps > STEPS_MAX;
	return !w->full;
}

static void put_line(struct writer *w)
{
	put(w, "\n");
	for (unsigned i = 0; i < w->indent; i++)
		put(w, INDENT);
}

/* ---- names, values, comments ---- */

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_$"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	return n > 0 && s[n] == '\0' && (s[0] < '0' || s[0] > '9');
}

/* Write at most MAX bytes of TEXT in quotes. */
static void put_quoted(struct writer *w, const char *text, size_t len,
		       size_t max)
{
	size_t end = utf8_cut(text, len, max), n;

	put(w, "\"");
	for (size_t i = 0; i < end && !w->full; i += n) {
		int32_t point = utf8_decode(text + i, end - i, &n);
		char escape[UTF8_ESCAPE_SIZE];

		if (point == '"' || point == '\\')
			put(w, "\\");
		if (point >= 0 && utf8_is_control(point))
			put_bytes(w, escape, utf8_escape(escape, point));
		else if (point >= 0)
			put_bytes(w, text + i, n);
	}
	put(w, end < len ? "…\"" : "\"");
}

/*
 * Return the end of the first sentence of TEXT, or where a long sentence is cut,
 * after a word if there is one; CUT is set then.
 */
static size_t first_sentence(const char *text, size_t len, bool *cut)
{
	size_t end = utf8_cut(text, len, COMMENT_MAX);

	*cut = false;
	for (size_t i = 0; i + 1 < end; i++)
		if (text[i] == '.' &&
		    (text[i + 1] == ' ' || text[i + 1] == '\n'))
			return i + 1;
	if (end == len)
		return len;
	*cut = true;
	for (size_t i = end; i > end / 2; i--)
		if (text[i] == ' ')
			return i;
	return end;
}

/* Write a description on the rest of the line, spaces and controls as one space. */
static void put_words(struct writer *w, const char *text, size_t len)
{
	bool space = false, cut;
	size_t end = first_sentence(text, len, &cut), n;

	for (size_t i = 0; i < end && !w->full; i += n) {
		int32_t point = utf8_decode(text + i, end - i, &n);

		if (point < 0 || point == ' ' || utf8_is_control(point)) {
			space = true;
			continue;
		}
		put(w, space ? " " : "");
		put_bytes(w, text + i, n);
		space = false;
	}
	put(w, cut ? "…" : "");
}

/* Write the value V; of an array or object the type alone. */
static void put_value(struct writer *w, struct json_object *v)
{
	const char *text;
	size_t len;

	switch (json_object_get_type(v)) {
	case json_type_string:
		put_quoted(w, json_object_get_string(v),
			   (size_t)json_object_get_string_len(v), VALUE_MAX);
		break;
	case json_type_object:
		put(w, json_object_object_length(v) == 0 ? "{}" : "object");
		break;
	case json_type_array:
		put(w, json_object_array_length(v) == 0 ? "[]" : "unknown[]");
		break;
	default:
		text = json_text(v, &len);
		put_bytes(w, text, utf8_cut(text, len, VALUE_MAX));
	}
}

static bool is_plain(struct json_object *v)
{
	return !json_object_is_type(v, json_type_object) &&
	       !json_object_is_type(v, json_type_array);
}

static void put_comment(struct writer *w, struct json_object *schema)
{
	struct json_object *words = json_member(schema, "description");
	struct json_object *value = json_member(schema, "default");
	bool has = json_object_is_type(words, json_type_string) &&
		   json_object_get_string_len(words) > 0;

	if (!w->how->comments || (!has && value == NULL))
		return;
	put(w, " // ");
	if (value != NULL && is_plain(value)) {
		put(w, "= ");
		put_value(w, value);
		put(w, has ? ": " : "");
	}
	if (has)
		put_words(w, json_object_get_string(words),
			  (size_t)json_object_get_string_len(words));
}

/* ---- objects and arrays ---- */

static bool is_required(struct json_object *schema, const char *name)
{
	struct json_object *list = json_member(schema, "required");
	size_t n = json_length(list);

	for (size_t i = 0; i < n && i < REQUIRED_MAX; i++) {
		struct json_object *v = json_object_array_get_idx(list, i);

		if (json_object_is_type(v, json_type_string) &&
		    strcmp(json_object_get_string(v), name) == 0)
			return true;
	}
	return false;
}

/* Write a property on a line, with the comment. */
static void put_property(struct writer *w, struct json_object *of,
			 const char *name, struct json_object *schema)
{
	put_line(w);
	if (is_name(name))
		put(w, name);
	else
		put_quoted(w, name, strlen(name), SIGNATURE_MAX);
	put(w, is_required(of, name) ? ": " : "?: ");
	write_type(w, schema);
	put(w, ";");
	put_comment(w, schema);
}

/* The schema of further properties; NULL: none, or any value. */
static struct json_object *other_values(struct json_object *schema)
{
	struct json_object *other = json_member(schema, "additionalProperties");

	return json_object_is_type(other, json_type_object) &&
		       json_object_object_length(other) > 0
		   ? other
		   : NULL;
}

static void put_other(struct writer *w, struct json_object *schema)
{
	put(w, "[name: string]: ");
	write_type(w, schema);
}

static void write_properties(struct writer *w, struct json_object *schema,
			     struct json_object *all)
{
	put(w, "{");
	w->indent++;
	json_object_object_foreach(all, name, value) {
		size_t end = w->out.len;

		if (step(w) && json_object_is_type(value, json_type_boolean) &&
		    !json_object_get_boolean(value))
			continue;
		put_property(w, schema, name, value);
		if (!w->full)
			continue;
		w->out.len = end; /* whole lines alone */
		break;
	}
	if (other_values(schema) != NULL && !w->full) {
		put_line(w);
		put_other(w, other_values(schema));
		put(w, ";");
	}
	w->indent--;
	put_line(w);
	put(w, "}");
}

static void write_object(struct writer *w, struct json_object *schema)
{
	struct json_object *all = json_member(schema, "properties");
	struct json_object *other = other_values(schema);
	bool none =
	    json_object_is_type(json_member(schema, "additionalProperties"),
				json_type_boolean) &&
	    !json_member_bool(schema, "additionalProperties");
	bool has = json_object_is_type(all, json_type_object) &&
		   json_object_object_length(all) > 0;

	if (w->depth > w->how->deepest) {
		put(w, "object");
	} else if (has) {
		write_properties(w, schema, all);
	} else if (other != NULL) {
		put(w, "{");
		put_other(w, other);
		put(w, "}");
	} else {
		put(w, none ? "{}" : "object");
	}
}

/* Is S a single word as a type, such as string? */
static bool is_word(struct json_object *s)
{
	const char *type = json_member_str(s, "type");

	return type != NULL && strcmp(type, "object") != 0 &&
	       strcmp(type, "array") != 0 && json_member(s, "enum") == NULL &&
	       json_member(s, "const") == NULL;
}

static void write_array(struct writer *w, struct json_object *schema)
{
	struct json_object *items = json_member(schema, "items");
	struct json_object *first = json_member(schema, "prefixItems");

	if (json_length(first) > 0) {
		const char *between = "[";

		json_each(one, first) {
			put(w, between);
			write_type(w, one);
			between = ", ";
			if (w->full)
				break;
		}
		put(w, "]");
	} else if (items == NULL) {
		put(w, "unknown[]");
	} else if (is_word(items)) {
		write_type(w, items);
		put(w, "[]");
	} else {
		put(w, "Array<");
		write_type(w, items);
		put(w, ">");
	}
}

/* ---- types ---- */

static void write_named_type(struct writer *w, struct json_object *schema,
			     const char *type)
{
	static const char *const words[] = {"string", "number", "integer",
					    "boolean", "null"};

	if (strcmp(type, "object") == 0) {
		write_object(w, schema);
		return;
	}
	if (strcmp(type, "array") == 0) {
		write_array(w, schema);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(type, words[i]) == 0) {
			put(w, words[i]);
			return;
		}
	put(w, "unknown");
}

static void write_enum(struct writer *w, struct json_object *list)
{
	size_t n = json_object_array_length(list);

	for (size_t i = 0; i < n && i < VALUES_MAX; i++) {
		put(w, i > 0 ? " | " : "");
		put_value(w, json_object_array_get_idx(list, i));
	}
	put(w, n > VALUES_MAX ? " | …" : n == 0 ? "never" : "");
}

/* Write the type in S itself, without the schemas combined in S. Was there a type? */
static bool write_own(struct writer *w, struct json_object *s)
{
	struct json_object *type = json_member(s, "type"), *v;
	size_t n = 0;

	if (json_object_object_get_ex(s, "const", &v)) {
		put_value(w, v);
	} else if (json_object_is_type(json_member(s, "enum"),
				       json_type_array)) {
		write_enum(w, json_member(s, "enum"));
	} else if (json_object_is_type(type, json_type_string)) {
		write_named_type(w, s, json_object_get_string(type));
	} else if (json_length(type) > 0) {
		json_each(one, type) {
			if (!step(w))
				break;
			put(w, n++ > 0 ? " | " : "");
			write_named_type(
			    w, s,
			    json_object_is_type(one, json_type_string)
				? json_object_get_string(one)
				: "");
		}
	} else if (json_member(s, "properties") != NULL) {
		write_object(w, s);
	} else if (json_member(s, "items") != NULL) {
		write_array(w, s);
	} else {
		return false;
	}
	return true;
}

/* Does S have a type? Many alternatives only have "required". */
static bool says_type(struct json_object *s)
{
	static const char *const words[] = {"type",  "const", "enum",
					    "$ref",  "items", "anyOf",
					    "oneOf", "allOf", "properties"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (json_object_object_get_ex(s, words[i], NULL))
			return true;
	return false;
}

/*
 * Write the schemas of LIST with a type, SIGN between the schemas, and BEFORE and
 * AFTER around. False: no schema has a type.
 */
static bool write_list(struct writer *w, struct json_object *list,
		       const char *sign, const char *before, const char *after)
{
	size_t n = 0;

	json_each(one, list) {
		if (!step(w))
			break;
		if (!json_object_is_type(one, json_type_object) ||
		    !says_type(one))
			continue;
		put(w, n++ == 0 ? before : sign);
		write_type(w, one);
	}
	put(w, n > 0 ? after : "");
	return n > 0;
}

static bool write_combined(struct writer *w, struct json_object *s, bool own)
{
	static const struct {
		const char *key, *sign;
	} lists[] = {{"anyOf", " | "}, {"oneOf", " | "}, {"allOf", " & "}};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct json_object *list = json_member(s, lists[i].key);

		own |= write_list(w, list, lists[i].sign, own ? " & (" : "",
				  own ? ")" : "");
	}
	return own;
}

/* The target of S's "$ref" within the whole schema, or NULL. */
static struct json_object *target(const struct writer *w, struct json_object *s)
{
	const char *ref = json_member_str(s, "$ref");
	struct json_object *found = NULL;

	if (ref == NULL || ref[0] != '#')
		return NULL;
	if (ref[1] == '\0')
		return w->root;
	return json_pointer_get(w->root, ref + 1, &found) == 0 ? found : NULL;
}

static void write_type(struct writer *w, struct json_object *schema)
{
	bool own;

	if (!step(w))
		return;
	if (!json_object_is_type(schema, json_type_object) ||
	    w->depth > DEEPEST) {
		put(w, "unknown");
		return;
	}
	w->depth++;
	own = write_own(w, schema);
	if (!own && json_member(schema, "$ref") != NULL) {
		write_type(w, target(w, schema));
		own = true;
	}
	if (!write_combined(w, schema, own))
		put(w, "unknown");
	w->depth--;
}

char *signature_of(struct json_object *schema)
{
	struct writer w;

	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		w = (struct writer){.root = schema,
				    .how = &plain[i],
				    .out.max = SIGNATURE_MAX - sizeof(REST)};
		write_type(&w, schema);
		if (!w.full)
			break;
		if (i + 1 < ARRAY_LEN(plain))
			buf_fini(&w.out);
	}
	w.out.max = 0;
	if (w.full)
		buf_add_str(&w.out, REST);
	return buf_take(&w.out, NULL);
}
