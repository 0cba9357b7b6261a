/* SPDX-License-Identifier: Apache-2.0 */
/* json_digest.h - SHA-256 of a JSON value, whatever its members' order. */
#ifndef PROTO_JSON_JSON_DIGEST_H
#define PROTO_JSON_JSON_DIGEST_H

#include <json-c/json.h>
#include <stddef.h>

#define JSON_DIGEST_BYTES 32

/*
 * Digest the N bytes at PREFIX (a key or a label) and VALUE (NULL is null).
 * Equal prefixes and equal values have equal digests. Other pairs have other
 * digests, when all prefixes have the same length or mark their end. Threads
 * may call this function; no other thread may touch VALUE meanwhile.
 */
void json_digest(unsigned char out[JSON_DIGEST_BYTES], const void *prefix,
		 size_t n, struct json_object *value);

#endif
