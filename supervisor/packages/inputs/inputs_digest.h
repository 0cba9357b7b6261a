/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs_digest.h - digests a JSON value by SHA-256, whatever the order of
 * members.
 */
#ifndef SUPERVISOR_INPUTS_INPUTS_DIGEST_H
#define SUPERVISOR_INPUTS_INPUTS_DIGEST_H

#include <json-c/json.h>

#define INPUTS_DIGEST_SIZE 65 /* size of the digest in hex, with NUL */

#define INPUTS_DIGEST_KEY 32

/*
 * Digest VALUE; equal values give equal digests. KEY, for secret values, is
 * kept in no record, so that nobody can guess the value from a stored digest.
 * NULL: no key. Servers that may be asked for the same run need the same key.
 */
void inputs_digest_json(char out[INPUTS_DIGEST_SIZE], struct json_object *value,
			const unsigned char key[INPUTS_DIGEST_KEY]);

#endif
