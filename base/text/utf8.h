/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - is it UTF-8 (RFC 3629, section 4), where may it be cut, what does a
 * character do, and where does it lie?
 */
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

/* Is it UTF-8 without C0, DEL and C1? */
bool utf8_printable(const char *p, size_t n);

/* The largest length up to MAX at which P (N bytes, valid) may be cut. */
size_t utf8_cut(const char *p, size_t n, size_t max);

/* Writes C, a character and no surrogate, to OUT: how many bytes, 4 at most. */
size_t utf8_put(char *out, uint32_t c);

/* Take out of TEXT what is no UTF-8: "%.64s" cuts in mid-character. */
void utf8_mend(char *text);

/* The code point at P (N > 0 bytes), its length in *LEN; -1: not UTF-8. */
int32_t utf8_decode(const char *p, size_t n, size_t *len);

/*
 * Controls (Cc: C0, DEL, C1), what ends a line or turns its direction (Unicode's
 * Bidi_Control), and what is not seen (Default_Ignorable_Code_Point), but for
 * what writing needs: joiners, variation selectors 1 to 16, and the marks of
 * Khmer and Mongolian.
 */
bool utf8_is_control(int32_t point);

/*
 * The line and the column, both from 1, of the byte AT of TEXT, which has at
 * least that many bytes. A column is a character; a byte that is no UTF-8 is
 * one, too. The time is linear in AT.
 */
void utf8_position(const char *text, size_t at, size_t *line, size_t *column);

#endif
