/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_egress_mask.c - a byte for the size of parts, a secret of 8 bytes, and a text: the
 * length stays, and the secret is in the masked text no more.
 */
#include "tests/fuzz/fuzz.h"
#include "egress/parse/mask.h"

enum { SECRET = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf held = {0}, out = {0};
	struct mask m = {0};
	const char *secret = (const char *)data + 1, *text = secret + SECRET;
	size_t part, n;

	if (size < 1 + SECRET || memchr(secret, '*', SECRET) != NULL)
		return 0;
	n = size - 1 - SECRET;
	part = data[0] % 32 + 1u;
	mask_add(&m, secret, SECRET);
	for (size_t at = 0; at <= n; at += part) {
		bool last = at + part > n;
		size_t ready = mask_stream(&m, &held, text + at,
					   last ? n - at : part, last);

		buf_add(&out, buf_data(&held), ready);
		buf_drop(&held, ready);
	}
	assert(buf_len(&out) == n);
	assert(n == 0 || memmem(buf_data(&out), n, secret, SECRET) == NULL);
	mask_fini(&m);
	buf_fini(&held);
	buf_fini(&out);
	return 0;
}
