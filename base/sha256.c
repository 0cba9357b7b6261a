/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.c - SHA-256 by FIPS 180-4, for the zygote of programs, which checks
 * packages granted by digest. Cannot fail.
 */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void take_block(struct sha256 *s, const unsigned char *p)
{
	uint32_t a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3];
	uint32_t e = s->h[4], f = s->h[5], g = s->h[6], h = s->h[7];
	uint32_t w[64];

	/* the 64 words of a round, from the 16 words of the block */
	for (size_t i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		       (uint32_t)p[2] << 8 | p[3];
	for (size_t i = 16; i < 64; i++)
		w[i] =
		    w[i - 16] + w[i - 7] +
		    (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^
		     w[i - 15] >> 3) +
		    (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
	for (size_t i = 0; i < 64; i++) {
		uint32_t one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
			       ((e & f) ^ (~e & g)) + k[i] + w[i];
		uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
			       ((a & b) ^ (a & c) ^ (b & c));

		h = g;
		g = f;
		f = e;
		e = d + one;
		d = c;
		c = b;
		b = a;
		a = one + two;
	}
	s->h[0] += a;
	s->h[1] += b;
	s->h[2] += c;
	s->h[3] += d;
	s->h[4] += e;
	s->h[5] += f;
	s->h[6] += g;
	s->h[7] += h;
}

void sha256_begin(struct sha256 *s)
{
	*s = (struct sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
				   0xa54ff53a, 0x510e527f, 0x9b05688c,
				   0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t have = s->bytes % sizeof(s->block);

	s->bytes += len;
	while (len > 0) {
		size_t n = sizeof(s->block) - have;

		if (have == 0 && len >= n) {
			take_block(s, p);
		} else {
			n = n < len ? n : len;
			memcpy(s->block + have, p, n);
			have += n;
			if (have == sizeof(s->block))
				take_block(s, s->block);
			have %= sizeof(s->block);
		}
		p += n;
		len -= n;
	}
}

void sha256_end(struct sha256 *s, char hex[65])
{
	static const unsigned char pad[64] = {0x80};
	uint64_t bits = s->bytes * 8;
	unsigned char size[8];

	sha256_add(s, pad, 1 + (119 - s->bytes % 64) % 64);
	for (size_t i = 0; i < 8; i++)
		size[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(s, size, sizeof(size));
	for (size_t i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", s->h[i]);
}
