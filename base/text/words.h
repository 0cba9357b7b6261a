/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - lists of words with blanks between them, as a configuration has. */
#ifndef BASE_TEXT_WORDS_H
#define BASE_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The next word of *LIST (NULL: an empty one), which moves on behind it, and
 * its length in *N; NULL: there are no more.
 */
const char *words_next(const char **list, size_t *n);
/* Is WORD one of LIST's? */
bool words_have(const char *list, const char *word);

#endif
