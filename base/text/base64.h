/* SPDX-License-Identifier: Apache-2.0 */
/* base64.h - RFC 4648, section 4: the standard alphabet, padded. */
#ifndef BASE_TEXT_BASE64_H
#define BASE_TEXT_BASE64_H

#include <stddef.h>

#define BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* Write BASE64_LEN(n) characters to OUT; no NUL. */
void base64_encode(char *out, const void *in, size_t n);

/*
 * Decode N characters into OUT (room for n / 4 * 3 bytes). 0 and the length in
 * *LEN, or -EINVAL for any form but the canonical.
 */
int base64_decode(void *out, size_t *len, const char *in, size_t n);

#endif
