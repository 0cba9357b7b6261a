/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs_digest.c - digests inputs, to see whether an idempotency key came with
 * the same inputs; the digest of secret inputs is of no use elsewhere.
 * tool_run_digest.c calls it, for large inputs on a thread. It cannot fail.
 */
#include "supervisor/packages/inputs/inputs_digest.h"

#include <stdio.h>
#include <string.h>

#include "proto/json/json_digest.h"

/* Other uses of the sealing key have other labels. */
#define LABEL "paddock inputs"

/* Also called on threads, for trees that no other thread touches. */
void inputs_digest_json(char out[INPUTS_DIGEST_SIZE], struct json_object *value,
			const unsigned char key[INPUTS_DIGEST_KEY])
{
	unsigned char prefix[INPUTS_DIGEST_KEY + sizeof(LABEL)] = {0};
	unsigned char sum[JSON_DIGEST_BYTES];

	if (key != NULL) {
		memcpy(prefix, LABEL, sizeof(LABEL));
		memcpy(prefix + sizeof(LABEL), key, INPUTS_DIGEST_KEY);
	}
	json_digest(sum, prefix, key != NULL ? sizeof(prefix) : 0, value);
	for (unsigned i = 0; i < sizeof(sum); i++)
		snprintf(out + (size_t)2 * i, 3, "%02x", sum[i]);
	explicit_bzero(prefix, sizeof(prefix));
}
