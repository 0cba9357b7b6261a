/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.h - "did you mean": the known word nearest to one that is not known. */
#ifndef BASE_TEXT_SUGGEST_H
#define BASE_TEXT_SUGGEST_H

#include <stddef.h>

#define SUGGEST_WORD_MAX 64 /* bytes; a longer word is near to nothing */

/* A search: suggest_init(), suggest_try() for each candidate, then read best. */
struct suggest {
	const char *word; /* lent */
	const char *best; /* borrowed from suggest_try(); NULL: none is near */
	unsigned cost;	  /* of best; before: one more than would be near */
};

/*
 * Near are words within one edit for each three bytes of WORD, at least one
 * and at most three. An edit puts in, leaves out, changes or swaps with its
 * neighbour one byte; upper and lower case are the same. Of several that are
 * as near, the first tried stays.
 */
void suggest_init(struct suggest *n, const char *word);
void suggest_try(struct suggest *n, const char *candidate);

/* The one of LIST (N of them) that is nearest to WORD; NULL: none. Borrowed. */
const char *suggest_word(const char *word, const char *const *list, size_t n);

#endif
