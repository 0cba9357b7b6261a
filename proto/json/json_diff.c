/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_diff.c - compares the expected output of a template's test with the
 * actual output, for "paddock template test" (cli/template/template_test.c). A
 * comparison cannot fail: the answer is equal or not, with a JSON Pointer to
 * the first difference, cut to the caller's buffer.
 */
#include "proto/json/json_diff.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/json/json.h"
#include "proto/json/json_is.h"

struct where {
	char *text;
	size_t size, len;
};

/* Are I and D the same number? An integer that no double holds equals none. */
static bool int_is_double(struct json_object *i, double d)
{
	int64_t n = json_object_get_int64(i);

	if (floor(d) != d)
		return false;
	if (d >= -9223372036854775808.0 && d < 9223372036854775808.0)
		return (int64_t)d == n && (n != INT64_MAX);
	return d >= 0 && d < 18446744073709551616.0 &&
	       (uint64_t)d == json_object_get_uint64(i);
}

static bool same_number(struct json_object *a, struct json_object *b)
{
	bool ai = json_object_is_type(a, json_type_int);
	bool bi = json_object_is_type(b, json_type_int);

	if (ai && bi)
		return json_object_equal(a, b) != 0;
	if (ai)
		return int_is_double(a, json_object_get_double(b));
	if (bi)
		return int_is_double(b, json_object_get_double(a));
	return json_object_get_double(a) == json_object_get_double(b);
}

static bool same_value(struct json_object *a, struct json_object *b,
		       struct where *w);

static bool same_at(struct json_object *a, struct json_object *b,
		    struct where *w, const char *key)
{
	size_t before = w->len;
	int n = snprintf(w->text + w->len, w->size - w->len, "/%s", key);

	w->len += (size_t)n;
	if (w->len >= w->size)
		w->len = w->size - 1;
	if (!same_value(a, b, w))
		return false;
	w->len = before;
	w->text[before] = '\0';
	return true;
}

static bool same_array(struct json_object *a, struct json_object *b,
		       struct where *w)
{
	size_t na = json_object_array_length(a),
	       nb = json_object_array_length(b);
	char index[24];

	for (size_t i = 0; i < na && i < nb; i++) {
		snprintf(index, sizeof(index), "%zu", i);
		if (!same_at(json_object_array_get_idx(a, i),
			     json_object_array_get_idx(b, i), w, index))
			return false;
	}
	return na == nb;
}

static bool same_object(struct json_object *a, struct json_object *b,
			struct where *w)
{
	json_object_object_foreach(a, key, value) {
		struct json_object *other;

		if (!json_object_object_get_ex(b, key, &other)) {
			snprintf(w->text + w->len, w->size - w->len, "/%s",
				 key);
			return false;
		}
		if (!same_at(value, other, w, key))
			return false;
	}
	json_object_object_foreach(b, name, extra) {
		(void)extra;
		if (!json_object_object_get_ex(a, name, NULL)) {
			snprintf(w->text + w->len, w->size - w->len, "/%s",
				 name);
			return false;
		}
	}
	return true;
}

static bool same_value(struct json_object *a, struct json_object *b,
		       struct where *w)
{
	if (json_is_number(a) && json_is_number(b))
		return same_number(a, b);
	if (json_object_get_type(a) != json_object_get_type(b))
		return false;
	if (json_object_is_type(a, json_type_array))
		return same_array(a, b, w);
	if (json_object_is_type(a, json_type_object))
		return same_object(a, b, w);
	return json_object_equal(a, b) != 0;
}

bool json_diff(struct json_object *a, struct json_object *b, char *pointer,
	       size_t size)
{
	struct where w = {.text = pointer, .size = size};

	pointer[0] = '\0';
	return same_value(a, b, &w);
}
