/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.c - a field of a form by its schema: its description, and the value of a
 * typed line; ask.c and answers.c call it. An invalid line is -EINVAL with what
 * would be valid; a schema without a type takes JSON, or else the line as text.
 */
#include "cli/ask/form.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "base/text/utf8.h"
#include "cli/ask/input.h"
#include "cli/ask/input_type.h"
#include "proto/json/json.h"
#include "proto/schema/schema.h"

/* ---- choices ---- */

/* Is every item of LIST an object with "const"? */
static bool is_titled(struct json_object *list)
{
	json_each(one, list)
		if (!json_object_object_get_ex(one, "const", NULL))
			return false;
	return json_length(list) > 0;
}

static struct json_object *choice_options(struct json_object *schema)
{
	static const char *const titled[] = {"oneOf", "anyOf"};

	if (json_length(json_member(schema, "enum")) > 0)
		return json_member(schema, "enum");
	for (size_t i = 0; i < ARRAY_LEN(titled); i++)
		if (is_titled(json_member(schema, titled[i])))
			return json_member(schema, titled[i]);
	return NULL;
}

void form_field_init(struct form_field *f, struct json_object *root,
		     const char *key)
{
	struct json_object *own = input_property(root, root, key, NULL);
	struct json_object *schema = input_resolve(root, own);

	*f = (struct form_field){.key = key,
				 .root = root,
				 .schema = schema,
				 .options = choice_options(schema),
				 .types = input_types(root, own),

				 .secret =
				     json_member_bool(own, "writeOnly") ||
				     json_member_bool(schema, "writeOnly")};
	if (f->options == NULL && f->types == INPUT_ARRAY) {
		f->options = choice_options(input_items(root, schema));
		f->several = f->options != NULL;
	}
	f->names = json_member(schema, "enumNames");
	json_each(one, json_member(root, "required"))
		if (json_object_is_type(one, json_type_string) &&
		    strcmp(json_object_get_string(one), key) == 0)
			f->required = true;
}

size_t form_options(const struct form_field *f)
{
	return json_length(f->options);
}

struct json_object *form_option(const struct form_field *f, size_t i,
				const char **title)
{
	struct json_object *one = json_object_array_get_idx(f->options, i);
	struct json_object *value, *name = NULL;

	if (!json_object_object_get_ex(one, "const", &value))
		value = one;
	if (value != one)
		name = json_member(one, "title");
	else if (i < json_length(f->names))
		name = json_object_array_get_idx(f->names, i);
	if (title != NULL)
		*title = json_object_is_type(name, json_type_string)
			     ? json_object_get_string(name)
			     : NULL;
	return value;
}

/* ---- descriptions ---- */

/* Append ", 2 to 20 characters" by SCHEMA's bounds LEAST and MOST, if any. */
static void add_range(struct buf *out, struct json_object *schema,
		      const char *least, const char *most, const char *unit)
{
	struct json_object *from = json_member(schema, least);
	struct json_object *to = json_member(schema, most);

	if (from != NULL && to != NULL)
		buf_printf(out, ", %s to ", json_object_get_string(from));
	else if (from != NULL)
		buf_printf(out, ", at least %s", json_object_get_string(from));
	else if (to != NULL)
		buf_add_str(out, ", at most ");
	if (to != NULL)
		buf_add_str(out, json_object_get_string(to));
	if (from != NULL || to != NULL)
		buf_add_str(out, unit);
}

static const struct {
	const char *format, *words;
} formats[] = {{"email", "an e-mail address"},
	       {"uri", "a URL"},
	       {"date", "a date such as 2026-11-22"},
	       {"date-time", "a time such as 2026-11-22T09:30:00Z"}};

static void describe_text(struct buf *out, struct json_object *schema)
{
	const char *format = json_member_str(schema, "format");
	const char *words = "a text";

	for (size_t i = 0; format != NULL && i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].format, format) == 0)
			words = formats[i].words;
	buf_add_str(out, words);
	add_range(out, schema, "minLength", "maxLength", " characters");
	if (json_member_str(schema, "pattern") != NULL)
		buf_printf(out, " that matches %.100s",
			   json_member_str(schema, "pattern"));
}

void form_describe(struct buf *out, const struct form_field *f)
{
	char names[INPUT_TYPES_SIZE];

	if (f->options != NULL && !f->several) {
		buf_printf(out, "a number, 1 to %zu", form_options(f));
	} else if (f->options != NULL) {
		buf_printf(out, "numbers of 1 to %zu with blanks between",
			   form_options(f));
		add_range(out, f->schema, "minItems", "maxItems", " of them");
	} else if (f->types == INPUT_STRING || f->types == 0) {
		describe_text(out, f->schema);
	} else if (f->types == INPUT_BOOLEAN) {
		buf_add_str(out, "yes or no");
	} else if (f->types == INPUT_ARRAY) {
		buf_add_str(out, "values with commas between, or a JSON array");
		add_range(out, f->schema, "minItems", "maxItems", " of them");
	} else {
		input_type_names(names, f->types);
		buf_add_str(out, names);
		add_range(out, f->schema, "minimum", "maximum", "");
	}
}

void form_show_value(struct buf *out, struct json_object *value)
{
	size_t shown = 0;

	if (json_object_is_type(value, json_type_boolean)) {
		buf_add_str(out, json_object_get_boolean(value) ? "yes" : "no");
	} else if (json_object_is_type(value, json_type_array)) {
		json_each(one, value) {
			buf_add_str(out, shown++ > 0 ? ", " : "");
			form_show_value(out, one);
		}
	} else if (json_object_is_type(value, json_type_string)) {
		buf_add_str(out, json_object_get_string(value));
	} else {
		buf_add_str(out, json_text(value, NULL));
	}
}

/* ---- typed lines ---- */

/* Is TEXT (may be NULL) the LEN bytes of WORD? */
static bool is_prefix_word(const char *text, const char *word, size_t len)
{
	return text != NULL && strlen(text) == len &&
	       memcmp(text, word, len) == 0;
}

/*
 * Return the option, counted from 1, whose number, value or title is WORD (LEN
 * bytes); 0: none.
 */
static size_t chosen(const struct form_field *f, const char *word, size_t len)
{
	size_t n = form_options(f), at = 0;

	if (len < 6 && strspn(word, "0123456789") >= len)
		at = strtoul(word, NULL, 10);
	for (size_t i = 0; (at < 1 || at > n) && i < n; i++) {
		const char *title;
		struct json_object *v = form_option(f, i, &title);

		if (is_prefix_word(json_object_get_string(v), word, len) ||
		    is_prefix_word(title, word, len))
			at = i + 1;
	}
	return at <= n ? at : 0;
}

static int take_several(const struct form_field *f, const char *line,
			struct json_object **value)
{
	struct json_object *list = json_object_new_array();
	const char *between = strchr(line, ',') != NULL ? "," : " \t";

	for (const char *at = line + strspn(line, between); *at != '\0';) {
		size_t n = strcspn(at, between), bare = n;
		size_t lead = strspn(at, " \t");
		size_t one;

		while (bare > lead && strchr(" \t", at[bare - 1]) != NULL)
			bare--;
		one = bare > lead ? chosen(f, at + lead, bare - lead) : 0;
		if (one == 0) {
			json_object_put(list);
			return -EINVAL;
		}
		json_object_array_add(
		    list, json_object_get(form_option(f, one - 1, NULL)));
		at += n;
		at += strspn(at, between);
	}
	*value = list;
	return 0;
}

static int take_switch(const char *line, struct json_object **value)
{
	static const char *const words[][3] = {{"n", "no", "false"},
					       {"y", "yes", "true"}};

	for (int v = 0; v < 2; v++)
		for (size_t i = 0; i < ARRAY_LEN(words[v]); i++)
			if (strcasecmp(line, words[v][i]) == 0) {
				*value = json_object_new_boolean(v);
				return 0;
			}
	return -EINVAL;
}

/* Split "a, b c" into two elements. Elements with a comma need JSON. */
static struct json_object *words_of(const struct form_field *f,
				    const char *line)
{
	unsigned types = input_types(f->root, input_items(f->root, f->schema));
	struct json_object *list = json_object_new_array();

	while (*line != '\0') {
		struct json_object *v = NULL;
		size_t n = strcspn(line, ","), len = n;

		while (len > 0 && line[len - 1] == ' ')
			len--;
		/* an element is a string if allowed, else JSON */
		if (len > 0 && (types == 0 || (types & INPUT_STRING) != 0 ||
				json_parse(&v, line, len, NULL) < 0))
			v = json_object_new_string_len(line, (int)len);
		if (len > 0)
			json_object_array_add(list, v);
		line += n;
		line += strspn(line, ", ");
	}
	return list;
}

/*
 * Convert LINE: text if the schema allows only strings; else JSON, or text if
 * strings are allowed.
 */
static int take_typed(const struct form_field *f, const char *line,
		      struct json_object **value)
{
	struct json_object *v = NULL;
	size_t len = strlen(line);

	if (f->types != INPUT_STRING && json_parse(&v, line, len, NULL) == 0) {
		if (f->types == 0 || (f->types & input_type_of(v)) != 0) {
			*value = v;
			return 0;
		}
		json_object_put(v);
	}
	if (f->types == INPUT_ARRAY && line[0] != '[') {
		*value = words_of(f, line);
		return 0;
	}
	if (f->types != 0 && (f->types & INPUT_STRING) == 0)
		return -EINVAL;
	*value = json_object_new_string_len(line, (int)len);
	return 0;
}

/* Convert LINE by choices and types; form_check() comes later. */
static int read_words(const struct form_field *f, const char *line,
		      struct json_object **value, char *errmsg, size_t size)
{
	struct buf b = {0};
	int rc = -EINVAL;
	size_t one;

	*value = NULL;
	if (!utf8_ok(line, strlen(line)))
		return errmsg_set(errmsg, size, "it is not UTF-8 text");
	if (f->several) {
		rc = take_several(f, line, value);
	} else if (f->options != NULL) {
		one = chosen(f, line, strlen(line));
		rc = one > 0 ? 0 : -EINVAL;
		if (one > 0)
			*value = json_object_get(form_option(f, one - 1, NULL));
	} else if (f->types == INPUT_BOOLEAN) {
		rc = take_switch(line, value);
	} else {
		rc = take_typed(f, line, value);
	}
	if (rc == 0)
		return 0;
	form_describe(&b, f);
	rc = errmsg_set(errmsg, size, "it has to be %.*s", (int)buf_len(&b),
			buf_data(&b));
	buf_fini(&b);
	return rc;
}

int form_take(const struct form_field *f, const char *line,
	      struct json_object **value, char *errmsg, size_t size)
{
	int rc = read_words(f, line, value, errmsg, size);

	if (rc == 0)
		rc = form_check(f, *value, errmsg, size);
	if (rc < 0) {
		json_object_put(*value);
		*value = NULL;
	}
	return rc;
}

/* ---- values in the form of -i ---- */

int form_put(const struct form_field *f, struct json_object *into, bool raw,
	     const char *text, char *errmsg, size_t size)
{
	struct json_object *value, *list;
	char *word;
	int rc;

	if (strchr(f->key, '=') == NULL &&
	    (raw || text[0] == '@' || strncmp(text, "env:", 4) == 0)) {
		word = xasprintf("%s%s=%s", f->key, raw ? ":" : "", text);
		rc = input_put(into, f->root, word, errmsg, size);
		free(word);
		return rc;
	}
	rc = read_words(f, text, &value, errmsg, size);
	if (rc == 0 && json_object_is_type(value, json_type_array)) {
		list = json_object_new_array();
		json_each(old, json_member(into, f->key))
			json_object_array_add(list, json_object_get(old));
		json_each(one, value)
			json_object_array_add(list, json_object_get(one));
		json_object_put(value);
		value = list;
	}
	if (rc == 0)
		json_object_object_add(into, f->key, value);
	return rc;
}

/* ---- checks by the schema ---- */

/* Return a schema that requires only this field to be valid; the caller's. */
static struct json_object *alone(const struct form_field *f)
{
	static const char *const kept[] = {"$schema", "$id", "$defs",
					   "definitions", "properties"};
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct json_object *v = json_member(f->root, kept[i]);

		if (v != NULL)
			json_object_object_add(o, kept[i], json_object_get(v));
	}
	return o;
}

int form_check(const struct form_field *f, struct json_object *value,
	       char *errmsg, size_t size)
{
	const struct schema_options opt = {.assert_formats = true};
	struct json_object *doc = alone(f), *o = json_object_new_object();
	struct schema_error err;
	struct schema *schema;
	int rc = 0;

	json_object_object_add(o, f->key, json_object_get(value));
	if (schema_compile(&schema, doc, &opt, &err) == 0) {
		rc = schema_validate(schema, o, &err);
		schema_free(schema);
	}
	json_object_put(o);
	json_object_put(doc);
	if (rc != -EINVAL)
		return 0; /* the server checks the whole schema */
	return err.pointer[0] == '/' && err.expected[0] != '\0' &&
		       strchr(err.pointer + 1, '/') == NULL
		   ? errmsg_set(errmsg, size, "it has to be %s", err.expected)
		   : errmsg_set(errmsg, size, "%s", err.text);
}
