/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_printf.h - printf(3) for words that are not all ours: what %s brings is shown
 * without what could act in a terminal or begin another line (sanitize.h); the
 * format itself is ours, with its newlines. Nothing else in cli/ prints %s.
 */
#ifndef CLI_SAFE_PRINTF_H
#define CLI_SAFE_PRINTF_H

#include <stdio.h>

/*
 * To stdout, or TO. Of printf's conversions: d i u x c s f and %, with flags,
 * width and precision (of %s the width is in columns), and the lengths l, ll
 * and z.
 */
void safe_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void safe_fprintf(FILE *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
