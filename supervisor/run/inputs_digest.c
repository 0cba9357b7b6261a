/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs_digest.c - a digest of inputs that does not depend on the order of
 * members, to see whether an idempotency key came with the same inputs.
 * tool_run_idempotent.c calls it, for large inputs on a thread. It fails only
 * without random bytes, and then aborts.
 */
#include "supervisor/run/inputs_digest.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "proto/json/json.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void feed(EVP_MD_CTX *md, struct json_object *v);

static void feed_object(EVP_MD_CTX *md, struct json_object *v)
{
	size_t n = (size_t)json_object_object_length(v), i = 0;
	const char **names = xcalloc(n, sizeof(*names));

	json_object_object_foreach(v, key, member) {
		(void)member;
		names[i++] = key;
	}
	qsort(names, n, sizeof(*names), by_name);
	EVP_DigestUpdate(md, "{", 1);
	for (i = 0; i < n; i++) {
		EVP_DigestUpdate(md, names[i], strlen(names[i]) + 1);
		feed(md, json_object_object_get(v, names[i]));
	}
	EVP_DigestUpdate(md, "}", 1);
	free(names);
}

static void feed(EVP_MD_CTX *md, struct json_object *v)
{
	const char *text;
	size_t len;

	if (json_object_is_type(v, json_type_object)) {
		feed_object(md, v);
	} else if (json_object_is_type(v, json_type_array)) {
		EVP_DigestUpdate(md, "[", 1);
		json_each(one, v)
			feed(md, one);
		EVP_DigestUpdate(md, "]", 1);
	} else {
		text = json_text(v, &len);
		EVP_DigestUpdate(md, text, len);
		EVP_DigestUpdate(md, "", 1);
	}
}

static unsigned char key[32];

static void make_key(void)
{
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		abort();
}

/* Also called on threads, of trees that nobody else touches. */
void inputs_digest_json(char out[INPUTS_DIGEST_SIZE], struct json_object *value,
			bool secret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	EVP_DigestInit_ex(md, EVP_sha256(), NULL);
	if (secret) {
		pthread_once(&once, make_key);
		EVP_DigestUpdate(md, key, sizeof(key));
	}
	feed(md, value);
	EVP_DigestFinal_ex(md, sum, &n);
	EVP_MD_CTX_free(md);
	for (unsigned i = 0; i < 32; i++)
		snprintf(out + (size_t)2 * i, 3, "%02x", sum[i]);
}
