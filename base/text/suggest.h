/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.h - "did you mean": the known word nearest to an unknown word. */
#ifndef BASE_TEXT_SUGGEST_H
#define BASE_TEXT_SUGGEST_H

#include <stddef.h>

#define SUGGEST_WORD_MAX 64 /* bytes; a longer word is near to nothing */

/*
 * A search for the nearest of many words: call suggest_init(), then suggest_try()
 * for each known word, then read best.
 */
struct suggest {
	const char *word; /* the mistyped word, lent */
	const char *best; /* borrowed from suggest_try(); NULL: no near word */
	unsigned cost;	  /* cost of best; at first the least cost that is
			     too far */
};

/*
 * A word is near within one edit for each three bytes of WORD, at least one and
 * at most three edits. An edit inserts, removes or changes a byte, or swaps two
 * neighbours; case is ignored. Of equally near words the first tried stays.
 */
void suggest_init(struct suggest *n, const char *word);
void suggest_try(struct suggest *n, const char *candidate);

/*
 * Return the word of LIST (N words) nearest to WORD, borrowed; NULL: no near
 * word.
 */
const char *suggest_word(const char *word, const char *const *list, size_t n);

#endif
