/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_text.c - writes sentences for people into a caller's array, for the
 * errors of compiling and checking. A text without room is cut between two
 * characters, so no caller checks a result.
 */
#include "proto/schema/schema_private.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"

#define SHOWN_BYTES 64u /* shown bytes of an instance's string */

void schema_text_init(struct schema_text *t, char *p, size_t cap)
{
	*t = (struct schema_text){.p = p, .cap = cap};
	p[0] = '\0';
}

static void put_bytes(struct schema_text *t, const char *s, size_t n)
{
	size_t room = t->cap - 1 - t->len;

	if (n > room)
		n = utf8_cut(s, n, room);
	memcpy(t->p + t->len, s, n);
	t->len += n;
	t->p[t->len] = '\0';
}

void schema_put(struct schema_text *t, const char *s)
{
	put_bytes(t, s, strlen(s));
}

void schema_putv(struct schema_text *t, const char *fmt, va_list ap)
{
	char line[1024];
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	if (n < 0)
		return;
	utf8_mend(line);
	schema_put(t, line);
}

void schema_putf(struct schema_text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	schema_putv(t, fmt, ap);
	va_end(ap);
}

void schema_put_quoted(struct schema_text *t, const char *s, size_t len)
{
	size_t shown = utf8_cut(s, len, SHOWN_BYTES);

	schema_put(t, "\"");
	for (size_t i = 0; i < shown; i++) {
		unsigned char ch = (unsigned char)s[i];

		if (ch < ' ' || ch == 0x7f)
			schema_putf(t, "\\u%04x", ch);
		else if (ch == '"' || ch == '\\')
			schema_putf(t, "\\%c", ch);
		else
			for (size_t n = 1;; n++) /* copy a whole character */
				if (i + n >= shown ||
				    ((unsigned char)s[i + n] & 0xC0) != 0x80) {
					put_bytes(t, s + i, n);
					i += n - 1;
					break;
				}
	}
	schema_put(t, shown < len ? "…\"" : "\"");
}

void schema_put_value(struct schema_text *t, struct json_object *v)
{
	struct schema_num num;

	switch (json_object_get_type(v)) {
	case json_type_object:
		schema_put(t, "an object");
		break;
	case json_type_array:
		schema_put(t, "an array");
		break;
	case json_type_string:
		schema_put_quoted(t, json_object_get_string(v),
				  (size_t)json_object_get_string_len(v));
		break;
	case json_type_int:
	case json_type_double:
		schema_num_of(&num, v);
		schema_put(t, schema_num_text(&num));
		break;
	case json_type_boolean:
		schema_put(t, json_object_get_boolean(v) ? "true" : "false");
		break;
	case json_type_null:
		schema_put(t, "null");
		break;
	}
}

/* Write type names: "number" (T_INT and T_REAL) before "integer" (T_INT). */
void schema_put_types(struct schema_text *t, unsigned types)
{
	static const struct {
		unsigned bits;
		const char *name;
	} names[] = {
	    {T_OBJECT, "an object"}, {T_ARRAY, "an array"},
	    {T_STRING, "a string"},  {T_NUMBER, "a number"},
	    {T_INT, "an integer"},   {T_BOOL, "true or false"},
	    {T_NULL, "null"},
	};
	const char *sep = "";

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if ((types & names[i].bits) != names[i].bits)
			continue;
		types &= ~names[i].bits;
		schema_put(t, sep);
		schema_put(t, names[i].name);
		sep = " or ";
	}
}

void schema_put_token(struct schema_text *t, const char *key)
{
	schema_put(t, "/");
	for (; *key != '\0' && t->len + 1 < t->cap; key++) {
		/* the plain bytes before the next ~ or / */
		size_t n = strcspn(key, "~/");

		if (n > 0) {
			put_bytes(t, key, n);
			key += n - 1;
		} else {
			schema_put(t, *key == '~' ? "~0" : "~1");
		}
	}
}
