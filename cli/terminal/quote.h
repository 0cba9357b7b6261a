/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.h - prints words of a template on stderr as a quotation: each line has
 * a mark that no line of paddock's own has.
 */
#ifndef CLI_QUOTE_H
#define CLI_QUOTE_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Quote WORDS: NULL or a text of any length. After 100 lines the rest is left
 * out, and a line says so.
 */
void quote(const char *words);
/*
 * Print a line of WORDS, N bytes, folded to the terminal, MARK before each
 * part. *LEFT is how many lines may still be printed; each part takes one off.
 */
void quote_line(const char *mark, const char *words, size_t n, size_t *left);
/*
 * Append N bytes of TEXT in at most COLUMNS, without characters that could end
 * the quotes or brackets around the text.
 */
void quote_within(struct buf *out, const char *text, size_t n, size_t columns);

#endif
