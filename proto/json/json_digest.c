/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_digest.c - feeds a JSON value to SHA-256 in a canonical form, for the
 * inputs behind an idempotency key and for the call that a requestState belongs
 * to. Memory that runs out aborts; there is no other failure.
 */
#include "proto/json/json_digest.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"

static void hash_bytes(struct sha256_ctx *md, const void *p, size_t n)
{
	sha256_update(md, n, p);
}

/*
 * Feed V: an object as {, then name NUL value for each member in the order of
 * the names, then }; an array as [ values ]; any other value as its text and a
 * NUL. The next byte tells a name from the end, so no two values are fed alike:
 * a name beginning with } or " has a " before it.
 */
static void feed(struct sha256_ctx *md, struct json_object *v);

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void feed_object(struct sha256_ctx *md, struct json_object *v)
{
	size_t n = (size_t)json_object_object_length(v), i = 0;
	const char **names = xcalloc(n, sizeof(*names));

	json_object_object_foreach(v, key, member) {
		(void)member;
		names[i++] = key;
	}
	qsort(names, n, sizeof(*names), compare_keys);
	hash_bytes(md, "{", 1);
	for (i = 0; i < n; i++) {
		hash_bytes(md, "\"", names[i][0] == '}' || names[i][0] == '"');
		hash_bytes(md, names[i], strlen(names[i]) + 1);
		feed(md, json_object_object_get(v, names[i]));
	}
	hash_bytes(md, "}", 1);
	free(names);
}

static void feed(struct sha256_ctx *md, struct json_object *v)
{
	const char *text;
	size_t len;

	if (json_object_is_type(v, json_type_object)) {
		feed_object(md, v);
	} else if (json_object_is_type(v, json_type_array)) {
		hash_bytes(md, "[", 1);
		json_each(one, v)
			feed(md, one);
		hash_bytes(md, "]", 1);
	} else {
		text = json_text(v, &len);
		hash_bytes(md, text, len);
		hash_bytes(md, "", 1);
	}
}

void json_digest(unsigned char out[JSON_DIGEST_BYTES], const void *prefix,
		 size_t n, struct json_object *value)
{
	struct sha256_ctx md;

	sha256_init(&md);
	sha256_update(&md, n, prefix);
	feed(&md, value);
	sha256_digest(&md, JSON_DIGEST_BYTES, out);
}
