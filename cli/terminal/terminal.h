/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - words for people, on stdout and stderr: cleaned of characters
 * that could act on a terminal, counted in columns, folded between words.
 * Nothing else in cli/ prints %s.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/*
 * Append N bytes of S to OUT: control characters and bytes that are not UTF-8
 * become '?', line breaks and tabs a blank. A text wider than COLUMNS is cut to
 * fit, with an ellipsis at the end.
 */
void sanitize_add(struct buf *out, const char *s, size_t n, size_t columns);
#define SANITIZE_NO_LIMIT ((size_t)-1)

/* Return how many columns S takes, N bytes that sanitize_add() has cleaned. */
size_t sanitize_width(const char *s, size_t n);

/*
 * Print to stdout, or TO, with every %s cleaned. Of printf's conversions: d i u
 * x c s f and %, with flags, width and precision (of %s the width is in
 * columns), and the lengths l, ll and z.
 */
void safe_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void safe_fprintf(FILE *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Print TEXT (NULL: none) on stdout, cut to MOST columns as by sanitize_add(),
 * then padded with blanks to LEAST.
 */
void safe_print_cut(const char *text, size_t least, size_t most);

/* Print a line on stderr after "paddock: ", cleaned as a whole. */
void message_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Do as message_print(), then return STATUS: for callers that return it. */
int message_fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Do as message_print(), without "paddock: ". */
void message_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * May the cursor move on FD: is FD a terminal, and TERM neither missing, empty
 * nor "dumb"? Where only a person has to be there, isatty() is enough.
 */
bool message_is_terminal(int fd);
/* May FD be written to in colours: message_is_terminal(), and no NO_COLOR? */
bool message_has_colours(int fd);

/*
 * Return the columns of the terminal FD; of no terminal, or one without a size,
 * the environment's COLUMNS, or 80.
 */
size_t text_wrap_columns(int fd);

/*
 * Print TEXT, which may be untrusted, and a newline, folded between words. AT
 * is the column where the line stands now; further lines have INDENT blanks
 * first and at most COLUMNS columns.
 */
void text_wrap_print(const char *text, size_t at, size_t indent,
		     size_t columns);

#endif
