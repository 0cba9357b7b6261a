/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.c - prints a tree for all who write JSON. json-c prints a double
 * without a text of its own by "%.17g" (0.1 becomes 0.10000000000000001) and
 * knows NaN. So each such double is given print_double() before printing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"

#define FLAGS (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Serialize a double for json-c: the fewest digits, of 15 to 17, that read back
 * the same. */
static int print_double(struct json_object *obj, struct printbuf *out,
			int level, int flags)
{
	/* 17 digits are always exact */
	static const int precisions[] = {15, 16, 17};
	double d = json_object_get_double(obj);
	char text[32];
	int n = 0;

	(void)level, (void)flags;
	if (!isfinite(d)) /* JSON has no name for NaN or infinity */
		return printbuf_memappend(out, "null", 4);
	for (size_t i = 0; i < ARRAY_LEN(precisions); i++) {
		n = snprintf(text, sizeof(text), "%.*g", precisions[i], d);
		if (strtod(text, NULL) == d)
			break;
	}
	return printbuf_memappend(out, text, n);
}

/*
 * Give print_double() to all doubles; recursion as deep as json-c's printer's.
 */
static void fit_doubles(struct json_object *obj)
{
	switch (json_object_get_type(obj)) {
	case json_type_double:
		if (json_object_get_userdata(obj) == NULL ||
		    !isfinite(json_object_get_double(obj)))
			json_object_set_serializer(obj, print_double, NULL,
						   NULL);
		break;
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(obj); i++)
			fit_doubles(json_object_array_get_idx(obj, i));
		break;
	case json_type_object: {
		json_object_object_foreach(obj, key, value) {
			(void)key;
			fit_doubles(value);
		}
		break;
	}
	default:
		break;
	}
}

const char *json_text(struct json_object *obj, size_t *len)
{
	const char *text;
	size_t n = 0;

	fit_doubles(obj);
	text = json_object_to_json_string_length(obj, FLAGS, &n);
	if (text == NULL)
		abort();
	if (len != NULL)
		*len = n;
	return text;
}
