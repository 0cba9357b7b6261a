/* SPDX-License-Identifier: Apache-2.0 */
/* json_digest.h - SHA-256 of a JSON value, whatever the order of its members. */
#ifndef PROTO_JSON_JSON_DIGEST_H
#define PROTO_JSON_JSON_DIGEST_H

#include <json-c/json.h>
#include <stddef.h>

#define JSON_DIGEST_BYTES 32

/*
 * Equal values (NULL is null) behind equal PREFIXes (N bytes, which is where a
 * key or a label stands; N is the same, or what ends it tells) have equal
 * digests, and no others have. Also called on threads, of a VALUE that nobody
 * else touches.
 */
void json_digest(unsigned char out[JSON_DIGEST_BYTES], const void *prefix,
		 size_t n, struct json_object *value);

#endif
