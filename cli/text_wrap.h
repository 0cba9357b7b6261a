/* SPDX-License-Identifier: Apache-2.0 */
/* text_wrap.h - text on stdout, folded between words at the terminal's width. */
#ifndef CLI_TEXT_WRAP_H
#define CLI_TEXT_WRAP_H

#include <stddef.h>

/* Of the terminal that FD is, or 80. */
size_t text_wrap_columns(int fd);

/*
 * TEXT, which may be untrusted, and a newline, from column AT on, where the
 * line stands; it goes on in lines of at most COLUMNS after INDENT blanks.
 */
void text_wrap_print(const char *text, size_t at, size_t indent,
		     size_t columns);

#endif
