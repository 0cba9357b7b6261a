/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes through the scanner. A text that the scanner accepts must also be accepted
 * by json-c's own parser, be parsed from its printed text as the same tree, and have
 * each member where json_find() says.
 */
#include "tests/fuzz/fuzz.h"
#include "proto/json/json.h"

/* TEXT at AT is the tree WANT. */
static void is_there(const char *text, struct json_span at,
		     struct json_object *want)
{
	struct json_object *got;

	assert(json_parse(&got, text + at.off, at.len, NULL) == 0);
	assert(json_object_equal(got, want));
	json_object_put(got);
}

static void check_spans(const char *text, size_t len, struct json_object *v)
{
	struct json_span at;
	size_t pos = 0, n = 0;

	if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach(v, key, value) {
			/* searches are linear: a bound for large objects */
			if (n++ == 32)
				break;
			assert(json_find(&at, text, len, key) == 0);
			is_there(text, at, value);
		}
	}
	if (!json_object_is_type(v, json_type_array))
		return;
	for (; json_next(&at, text, len, &pos) == 0; n++)
		is_there(text, at, json_object_array_get_idx(v, n));
	assert(n == json_object_array_length(v));
}

static void check_round(struct json_object *v)
{
	struct json_object *again;
	size_t len, len_again;
	const char *text = json_text(v, &len);
	const char *text_again;

	assert(json_parse(&again, text, len, NULL) == 0);
	assert(json_object_equal(v, again));
	text_again = json_text(again, &len_again);
	assert(len == len_again && memcmp(text, text_again, len) == 0);
	json_object_put(again);
}

static void check_lenient(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(JSON_DEPTH_MAX + 1);
	struct json_object *v;

	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	v = json_tokener_parse_ex(tok, text, (int)len);
	assert(json_tokener_get_error(tok) == json_tokener_success ||
	       json_tokener_get_error(tok) == json_tokener_continue);
	json_object_put(v);
	json_tokener_free(tok);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct json_object *v;
	struct json_error err;
	struct json_span at;
	size_t pos = 0;
	int rc = json_parse(&v, text, size, &err);

	if (rc == 0) {
		check_lenient(text, size);
		check_spans(text, size, v);
		check_round(v);
		json_object_put(v);
		return 0;
	}
	assert(v == NULL && err.at <= size);
	assert(memchr(err.text, '\0', sizeof(err.text)) != NULL);

	/* not promised a sense here, but never a span beyond the text */
	if (json_find(&at, text, size, "id") == 0)
		assert(at.off <= size && at.len <= size - at.off);
	while (json_next(&at, text, size, &pos) == 0)
		assert(at.off <= size && at.len <= size - at.off);
	return 0;
}
