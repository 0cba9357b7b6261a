/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - UTF-8 (RFC 3629, section 4): validity, places to cut, the effect and
 * the place of a character.
 */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return how many bytes at P (N bytes) are valid UTF-8; N when all are. */
size_t utf8_valid_len(const char *p, size_t n);

static inline bool utf8_ok(const char *p, size_t n)
{
	return utf8_valid_len(p, n) == n;
}

/* Is P UTF-8 without C0, DEL and C1? */
bool utf8_printable(const char *p, size_t n);

/*
 * Return the largest length up to MAX at which P (N bytes, valid) may be cut.
 */
size_t utf8_cut(const char *p, size_t n, size_t max);

/*
 * Write C, a character and no surrogate, to OUT; return the bytes, 4 at most.
 */
size_t utf8_put(char *out, uint32_t c);

/* Remove bytes of TEXT that are not UTF-8: "%.64s" cuts within a character. */
void utf8_mend(char *text);

/*
 * Return a copy (the caller's) of the LEN bytes at TEXT as utf8_mend() leaves
 * them, of *LEN bytes and a NUL. NULL: TEXT is valid UTF-8.
 */
char *utf8_mended(const char *text, size_t *len);

/*
 * Return the code point at P (N > 0 bytes), its length in *LEN; -1: not UTF-8.
 */
int32_t utf8_decode(const char *p, size_t n, size_t *len);

/*
 * Is POINT a control (Cc: C0, DEL, C1), a line end, a change of direction
 * (Unicode's Bidi_Control), or invisible (Default_Ignorable_Code_Point)?
 * Characters needed for writing are not: joiners, variation selectors 1 to 16,
 * and the marks of Khmer and Mongolian.
 */
bool utf8_is_control(int32_t point);

#define UTF8_ESCAPE_SIZE sizeof("\\udb40\\udc41")

/*
 * Write the character POINT to OUT as JSON escapes it: above U+FFFF as a pair of
 * surrogates. Return the bytes without the NUL.
 */
size_t utf8_escape(char out[UTF8_ESCAPE_SIZE], int32_t point);

/*
 * Find the line and the column, both from 1, of the byte AT of TEXT, which has
 * at least AT bytes. A column is a character, or a byte that is not UTF-8. The
 * time is linear in AT.
 */
void utf8_position(const char *text, size_t at, size_t *line, size_t *column);

#endif
