/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A typed line, followed by any JSON as the schema of a form: each field must have a
 * label, and each value that a field reads from the line must satisfy the field's
 * schema.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "cli/ask/form.h"
#include "proto/json/json.h"

static void try_field(struct json_object *schema, const char *key,
		      const char *line)
{
	struct buf words = {0}, shown = {0};
	struct json_object *value;
	struct form_field f;
	char errmsg[512] = "";

	form_field_init(&f, schema, key);
	form_describe(&words, &f);
	assert(buf_len(&words) > 0);
	for (size_t i = 0; i < form_options(&f); i++) {
		const char *title;

		form_show_value(&shown, form_option(&f, i, &title));
	}
	if (form_take(&f, line, &value, errmsg, sizeof(errmsg)) == 0) {
		assert(form_check(&f, value, errmsg, sizeof(errmsg)) == 0);
		form_show_value(&shown, value);
		json_object_put(value);
	} else {
		assert(value == NULL && errmsg[0] != '\0');
	}
	buf_fini(&words);
	buf_fini(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
	struct json_object *schema = NULL, *all;
	size_t n = end != NULL ? (size_t)(end - data) : 0;
	char *line;

	if (end == NULL ||
	    json_parse(&schema, (const char *)end + 1, size - n - 1, NULL) < 0)
		return 0;
	line = xstrndup((const char *)data, n);
	try_field(schema, "nothing", line);
	all = json_member(schema, "properties");
	if (json_object_is_type(all, json_type_object)) {
		json_object_object_foreach(all, key, own) {
			(void)own;
			try_field(schema, key, line);
		}
	}
	free(line);
	json_object_put(schema);
	return 0;
}
