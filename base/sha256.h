/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4), for the programs that are linked with no
 * cryptographic library because they run others' code. Who may have Nettle
 * uses that.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t bytes; /* so far */
	unsigned char block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
/* As 64 lower-case hexadecimal digits and a NUL; S is used up. */
void sha256_end(struct sha256 *s, char hex[65]);

#endif
