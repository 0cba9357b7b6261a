/* SPDX-License-Identifier: Apache-2.0 */
/* hex.h - hexadecimal digits, of either case. */
#ifndef BASE_TEXT_HEX_H
#define BASE_TEXT_HEX_H

#include <stddef.h>

/* Return 0 to 15, or -1: C is no digit. */
int hex_value(char c);

/*
 * Return the value of the N digits at P, 7 at most; -1: fewer than N are
 * digits. No byte behind the first other character, such as a NUL, is read.
 */
int hex_read(const char *p, size_t n);

#endif
