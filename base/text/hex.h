/* SPDX-License-Identifier: Apache-2.0 */
/* hex.h - hexadecimal digits, of either case. */
#ifndef BASE_TEXT_HEX_H
#define BASE_TEXT_HEX_H

#include <stddef.h>

/* 0 to 15, or -1: C is no digit. */
int hex_value(char c);

/*
 * What the N digits at P say, 7 of them at most; -1: they are not N. Nothing is
 * read behind the first that is none, such as a NUL.
 */
int hex_read(const char *p, size_t n);

#endif
