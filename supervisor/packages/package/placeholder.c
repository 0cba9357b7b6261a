/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placeholder.c - fills names in braces in URI templates and prompts, and
 * matches a URI against a template, for methods and the manifest's checks. Pure
 * functions: a full buffer is -EMSGSIZE, a URI that does not match is NULL.
 */
#include "supervisor/packages/package/placeholder.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/hex.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"

static const struct {
	const char *open, *close;
	const char *marks; /* allowed in a name, beside letters and digits */
} styles[] = {
    [PLACEHOLDER_URI] = {"{", "}", "_."},
    [PLACEHOLDER_PROMPT] = {"{{", "}}", "_.-"},
    [PLACEHOLDER_ANSWERS] = {"{", "}", "_.-"},
};

static size_t placeholder_name_len(enum placeholder_style style,
				   const char *text)
{
	size_t n = 0;

	while (text[n] != '\0' &&
	       (isalnum((unsigned char)text[n]) ||
		strchr(styles[style].marks, text[n]) != NULL))
		n++;
	return n <= PLACEHOLDER_NAME_MAX ? n : 0;
}

/* Does a placeholder begin at TEXT? Then P gets its name. */
static bool is_placeholder(struct placeholder_part *p,
			   enum placeholder_style style, const char *text)
{
	const char *open = styles[style].open, *close = styles[style].close;
	size_t n;

	if (strncmp(text, open, strlen(open)) != 0)
		return false;
	text += strlen(open);
	n = placeholder_name_len(style, text);
	if (n == 0 || strncmp(text + n, close, strlen(close)) != 0)
		return false;
	*p = (struct placeholder_part){text, n, true};
	return true;
}

bool placeholder_next(struct placeholder_part *p, enum placeholder_style style,
		      const char **at)
{
	struct placeholder_part ahead;
	const char *end = *at;

	if (*end == '\0')
		return false;
	if (is_placeholder(p, style, end)) {
		*at = p->text + p->len + strlen(styles[style].close);
		return true;
	}
	do
		end++;
	while (*end != '\0' && !is_placeholder(&ahead, style, end));
	*p = (struct placeholder_part){*at, (size_t)(end - *at), false};
	*at = end;
	return true;
}

int placeholder_fill(struct buf *out, enum placeholder_style style,
		     const char *text, struct json_object *values)
{
	struct placeholder_part p;
	int rc = 0;

	while (rc == 0 && placeholder_next(&p, style, &text)) {
		char name[PLACEHOLDER_NAME_MAX + 1];
		struct json_object *value = NULL;

		if (p.is_name) {
			snprintf(name, sizeof(name), "%.*s", (int)p.len,
				 p.text);
			value = json_member(values, name);
		}
		if (json_object_is_type(value, json_type_string))
			rc = buf_add(out, json_object_get_string(value),
				     (size_t)json_object_get_string_len(value));
		else if (!p.is_name)
			rc = buf_add(out, p.text, p.len);
		else if (style != PLACEHOLDER_PROMPT) /* braces of text */
			rc = buf_printf(out, "{%s}", name);
	}
	return rc;
}

static void add_answer_text(struct buf *out, struct json_object *value)
{
	size_t n;
	const char *text;

	for (size_t i = 0; i < json_length(value); i++) {
		(void)buf_add_str(out, i > 0 ? ", " : "");
		add_answer_text(out, json_object_array_get_idx(value, i));
	}
	if (value == NULL || json_object_is_type(value, json_type_array))
		return;
	if (json_object_is_type(value, json_type_string)) {
		text = json_object_get_string(value);
		n = (size_t)json_object_get_string_len(value);
	} else {
		text = json_text(value, &n);
	}
	(void)buf_add(out, text, n);
}

void placeholder_add_answers(struct json_object *values, const char *key,
			     struct json_object *properties,
			     struct json_object *content)
{
	json_object_object_foreach(properties, property, schema) {
		struct buf text = {0};
		char *name = xasprintf("%s.%s", key, property);

		(void)schema;
		add_answer_text(&text, json_member(content, property));
		json_object_object_add(
		    values, name,
		    json_object_new_string_len(
			buf_len(&text) > 0 ? buf_data(&text) : "",
			(int)buf_len(&text)));
		free(name);
		buf_fini(&text);
	}
}

const char *placeholder_uri_fault(const char *text)
{
	struct placeholder_part p;
	bool after_name = false;
	size_t names = 0;

	while (placeholder_next(&p, PLACEHOLDER_URI, &text)) {
		if (p.is_name && after_name)
			return "has two names with nothing between them";
		if (!p.is_name && (memchr(p.text, '{', p.len) != NULL ||
				   memchr(p.text, '}', p.len) != NULL))
			return "has braces that are not of the form {name}";
		after_name = p.is_name;
		names += p.is_name;
		if (names > PLACEHOLDER_URI_NAMES)
			return "has more than 16 names";
	}
	return names > 0 ? NULL : "has no {name}; with none it is a \"uri\"";
}

/* ---- matching ---- */

/*
 * Decode LEN bytes of a URI into a string; NULL: not UTF-8, empty, or a
 * forbidden byte.
 */
static struct json_object *decode_percent(const char *text, size_t len)
{
	struct json_object *value = NULL;
	char *out = xcalloc(1, len + 1);
	size_t n = 0;
	int byte = 1;

	for (size_t at = 0; at < len && byte > 0;) {
		if (isalnum((unsigned char)text[at]) ||
		    (text[at] != '\0' && strchr("-._~", text[at]) != NULL)) {
			byte = (unsigned char)text[at++];
		} else if (text[at] == '%' && len - at >= 3) {
			byte = hex_read(text + at + 1, 2);
			at += 3;
		} else {
			byte = -1;
		}
		out[n++] = (char)byte;
	}
	if (byte > 0 && n > 0 && utf8_ok(out, n))
		value = json_object_new_string_len(out, (int)n);
	free(out);
	return value;
}

/*
 * Return how many bytes of URI the name before AFTER (len 0: the end) takes; 0:
 * no match.
 */
static size_t value_len(const char *uri, const struct placeholder_part *after,
			bool last)
{
	size_t n = strlen(uri);
	const char *found;

	if (after->len == 0)
		return n;
	if (last) /* AFTER has to be the end of the rest */
		return n > after->len && memcmp(uri + n - after->len,
						after->text, after->len) == 0
			   ? n - after->len
			   : 0;
	found = n > 0 ? memmem(uri + 1, n - 1, after->text, after->len) : NULL;
	return found != NULL ? (size_t)(found - uri) : 0;
}

/*
 * Match one name and the text after the name; returns how many bytes both take,
 * 0: no match.
 */
static size_t match_name(struct json_object *values,
			 const struct placeholder_part *name, const char **text,
			 const char *uri)
{
	struct placeholder_part after = {0};
	struct json_object *value, *before;
	size_t n;
	char *key;

	(void)placeholder_next(&after, PLACEHOLDER_URI, text);
	n = value_len(uri, &after, **text == '\0');
	value = n > 0 ? decode_percent(uri, n) : NULL;
	if (value == NULL)
		return 0;
	key = xstrndup(name->text, name->len);
	before = json_member(values, key);
	if (before != NULL && !json_object_equal(before, value))
		n = 0; /* conflicting values of a name */
	json_object_object_add(values, key, value);
	free(key);
	return n > 0 ? n + after.len : 0;
}

/*
 * Does URI have TEXT's own parts, in order? Checked before any name is decoded.
 */
static bool has_shape(const char *text, const char *uri)
{
	struct placeholder_part p, after = {0};

	while (placeholder_next(&p, PLACEHOLDER_URI, &text)) {
		size_t n = p.len;

		if (p.is_name) {
			after = (struct placeholder_part){0};
			(void)placeholder_next(&after, PLACEHOLDER_URI, &text);
			n = value_len(uri, &after, *text == '\0');
			if (n == 0)
				return false;
			n += after.len;
		} else if (strncmp(uri, p.text, p.len) != 0) {
			return false;
		}
		uri += n;
	}
	return *uri == '\0';
}

struct json_object *placeholder_uri_match(const char *text, const char *uri)
{
	struct json_object *values;
	struct placeholder_part p;

	if (!has_shape(text, uri))
		return NULL;
	values = json_object_new_object();
	while (placeholder_next(&p, PLACEHOLDER_URI, &text)) {
		size_t n = p.len;

		if (p.is_name)
			n = match_name(values, &p, &text, uri);
		else if (strncmp(uri, p.text, p.len) != 0)
			n = 0;
		if (n == 0)
			goto no;
		uri += n;
	}
	if (*uri == '\0')
		return values;
no:
	json_object_put(values);
	return NULL;
}
