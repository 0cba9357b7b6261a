/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4), for programs linked with no cryptographic
 * library because they run untrusted code. Other programs use Nettle.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t bytes; /* count of bytes added so far */
	unsigned char block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
/*
 * Write 64 lower-case hexadecimal digits and a NUL; S must not be used again.
 */
void sha256_end(struct sha256 *s, char hex[65]);

#endif
