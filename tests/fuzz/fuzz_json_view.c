/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json_view.c - a view of accepted JSON can be walked, and the walk never reads
 * beyond the text.
 */
#include "tests/fuzz/fuzz.h"
#include "base/text/json_view.h"

/* Visit each member, the characters of each string, and nested objects. */
static void walk(struct json_view v)
{
	struct json_view key, value;
	size_t at = 0;

	while (json_view_next(v, &at, &key, &value)) {
		char *out = malloc(key.n + value.n);
		uint64_t n;

		if (out == NULL || at > v.n || value.n == 0)
			abort();
		if (json_view_unquote(key, out) > key.n)
			abort();
		if (json_view_is_string(value) &&
		    json_view_unquote(value, out) > value.n)
			abort();
		(void)json_view_uint(value, &n);
		free(out);
		if (json_view_is_object(value))
			walk(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy of exact size, so that a read beyond the end is detected */
	char *copy = malloc(size + 1);
	struct json_view v;
	const char *errmsg;
	size_t at;

	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	if (json_view_check((struct json_view){copy, size}, &v, &errmsg, &at)) {
		if (json_view_is_object(v))
			walk(v);
	} else if (errmsg == NULL || at > size) {
		abort();
	}
	free(copy);
	return 0;
}
