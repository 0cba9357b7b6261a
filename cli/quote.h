/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.h - words of a template on stderr, marked as such: each line of them has a
 * mark before it that no line of paddock's own has.
 */
#ifndef CLI_QUOTE_H
#define CLI_QUOTE_H

#include <stddef.h>

#include "base/buf.h"

/* WORDS, NULL or any length; what is more than fits a page is left out, and told. */
void quote(const char *words);
/*
 * A line of WORDS, N bytes, folded to the terminal, MARK before each part; of *LEFT
 * lines, those that it took are taken off.
 */
void quote_line(const char *mark, const char *words, size_t n, size_t *left);
/*
 * Append N bytes of TEXT in at most COLUMNS, with nothing that could end the quotes
 * or brackets around it.
 */
void quote_within(struct buf *out, const char *text, size_t n, size_t columns);

#endif
