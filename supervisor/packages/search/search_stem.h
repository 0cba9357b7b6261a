/* SPDX-License-Identifier: Apache-2.0 */
/* search_stem.h - the stem of an English word, for comparison alone. */
#ifndef SUPERVISOR_SEARCH_SEARCH_STEM_H
#define SUPERVISOR_SEARCH_SEARCH_STEM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Replace WORD, N bytes of lower case, by the stem, which is the same for words of
 * one root ("tables", "table"), and return the length of the stem. A word with
 * other characters than a to z stays.
 */
size_t search_stem(char *word, size_t n);

/* Is WORD (N bytes) without a meaning for a search, such as "the"? */
bool search_stem_says_nothing(const char *word, size_t n);

/* Does TEXT (LEN bytes) begin as a question for facts does: "which"? */
bool search_stem_asks(const char *text, size_t len);

#endif
