/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_json_view.c - what passes as JSON can be walked, and nothing beyond it. */
#include "tests/fuzz/fuzz.h"
#include "base/text/json_view.h"

/* Each member and, if it is a string, its characters; objects within too. */
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
	char *copy = malloc(size + 1); /* so that a byte too far is seen */
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
