/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - words for people, on stdout and stderr: cleaned of what could
 * act on a terminal, counted in columns, folded between words. Nothing else in
 * cli/ prints %s.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/*
 * Append N bytes of S: what acts and what is not UTF-8 becomes '?', line
 * breaks and tabs a blank. At most COLUMNS wide; cut, it ends in "…".
 */
void sanitize_add(struct buf *out, const char *s, size_t n, size_t columns);
#define SANITIZE_NO_LIMIT ((size_t)-1)

/* How many columns S, which is clean, takes. */
size_t sanitize_width(const char *s, size_t n);

/*
 * To stdout, or TO. Of printf's conversions: d i u x c s f and %, with flags,
 * width and precision (of %s the width is in columns), and the lengths l, ll
 * and z.
 */
void safe_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void safe_fprintf(FILE *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * TEXT (NULL: none) on stdout: cut to MOST columns as sanitize_add() does, then
 * blanks to LEAST.
 */
void safe_print_cut(const char *text, size_t least, size_t most);

/* One line, "paddock: " first. The line is cleaned as a whole. */
void message_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, and STATUS: who prints that line often ends with it. */
int message_fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same without "paddock: ". */
void message_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* May FD be drawn on: a terminal that is not dumb? */
bool message_is_terminal(int fd);
/* And coloured: NO_COLOR is not set either. */
bool message_has_colours(int fd);

/* Of the terminal that FD is; where that does not say, COLUMNS of the environment, or 80. */
size_t text_wrap_columns(int fd);

/*
 * TEXT, which may be untrusted, and a newline, from column AT on, where the
 * line stands; it goes on in lines of at most COLUMNS after INDENT blanks.
 */
void text_wrap_print(const char *text, size_t at, size_t indent,
		     size_t columns);

#endif
