/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs_digest.h - SHA-256 of a JSON value, whatever the order of its members.
 */
#ifndef SUPERVISOR_INPUTS_INPUTS_DIGEST_H
#define SUPERVISOR_INPUTS_INPUTS_DIGEST_H

#include <json-c/json.h>
#include <stdbool.h>

#define INPUTS_DIGEST_SIZE 65 /* hex with NUL */

/*
 * Equal values give equal digests. SECRET: keyed by random bytes of this
 * process, so that a stored digest is no way to guess what it was made from.
 */
void inputs_digest_json(char out[INPUTS_DIGEST_SIZE], struct json_object *value,
			bool secret);

#endif
