/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unicode.h - which characters do something else than show themselves: in a
 * terminal, a log, or to who reads. Text of others is shown without them.
 */
#ifndef BASE_TEXT_UNICODE_H
#define BASE_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at P (N > 0 bytes), its length in *LEN; -1: not UTF-8. */
int32_t unicode_decode(const char *p, size_t n, size_t *len);

/*
 * Controls (Cc: C0, DEL, C1), what ends a line or turns its direction (Unicode's
 * Bidi_Control), and what is not seen (Default_Ignorable_Code_Point), but for
 * what writing needs: joiners, variation selectors 1 to 16, and the marks of
 * Khmer and Mongolian.
 */
bool unicode_is_control(int32_t point);

#endif
