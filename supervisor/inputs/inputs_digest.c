/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs_digest.c - a digest of inputs, to see whether an idempotency key came
 * with the same ones; of those with secrets, one that is of no use elsewhere.
 * tool_run_idempotent.c calls it, for large inputs on a thread. It fails only
 * without random bytes, and then aborts.
 */
#include "supervisor/inputs/inputs_digest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "proto/json/json_digest.h"

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
	unsigned char sum[JSON_DIGEST_BYTES];

	if (secret)
		pthread_once(&once, make_key);
	json_digest(sum, key, secret ? sizeof(key) : 0, value);
	for (unsigned i = 0; i < sizeof(sum); i++)
		snprintf(out + (size_t)2 * i, 3, "%02x", sum[i]);
}
