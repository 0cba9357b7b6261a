/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - is it UTF-8, and where may it be cut? RFC 3629, section 4. */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes at P (N of them) are valid UTF-8; N when all are. */
size_t utf8_valid_len(const char *p, size_t n);

static inline bool utf8_ok(const char *p, size_t n)
{
	return utf8_valid_len(p, n) == n;
}

/* The largest length up to MAX at which P (N bytes, valid) may be cut. */
size_t utf8_cut(const char *p, size_t n, size_t max);

/* Writes C, a character and no surrogate, to OUT: how many bytes, 4 at most. */
size_t utf8_put(char *out, uint32_t c);

/* Take out of TEXT what is no UTF-8: "%.64s" cuts in mid-character. */
void utf8_mend(char *text);

#endif
