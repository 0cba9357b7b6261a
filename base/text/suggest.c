/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.c - the nearest known word by edit distance, for mistyped flags,
 * inputs, configuration keys, schema keywords and tools. A word without a near
 * word, or longer than SUGGEST_WORD_MAX, gets no proposal.
 */
#include "base/text/suggest.h"

#include <string.h>

#define EDITS_MAX 3
#define BYTES_PER_EDIT 3

static unsigned char fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Return the distance of A and B by optimal string alignment over three rows:
 * row[i % 3][j] is the cost of turning the first i bytes of A into the first j
 * of B. Neither word is longer than SUGGEST_WORD_MAX.
 */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[3][SUGGEST_WORD_MAX + 1];

	for (size_t j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *now = row[i % 3];
		const unsigned *last = row[(i - 1) % 3];
		const unsigned *older = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned x = fold(a[i - 1]), y = fold(b[j - 1]);

			now[j] = smaller(smaller(last[j], now[j - 1]) + 1,
					 last[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == fold(b[j - 2]) &&
			    y == fold(a[i - 2]))
				now[j] = smaller(now[j], older[j - 2] + 1);
		}
	}
	return row[na % 3][nb];
}

void suggest_init(struct suggest *n, const char *word)
{
	size_t len = strlen(word);
	unsigned edits =
	    (unsigned)smaller((unsigned)(len / BYTES_PER_EDIT), EDITS_MAX);

	*n =
	    (struct suggest){.word = word, .cost = (edits > 0 ? edits : 1) + 1};
	if (len == 0 || len > SUGGEST_WORD_MAX)
		n->cost = 0; /* a cost of 0: every word is too far */
}

void suggest_try(struct suggest *n, const char *candidate)
{
	size_t na = strnlen(n->word, SUGGEST_WORD_MAX + 1);
	size_t nb = strnlen(candidate, SUGGEST_WORD_MAX + 1);
	size_t gap = na > nb ? na - nb : nb - na;
	unsigned cost;

	if (gap >= n->cost || na > SUGGEST_WORD_MAX || nb > SUGGEST_WORD_MAX)
		return; /* an edit for every byte of the gap */
	cost = distance(n->word, na, candidate, nb);
	if (cost < n->cost) {
		n->cost = cost;
		n->best = candidate;
	}
}

const char *suggest_word(const char *word, const char *const *list, size_t n)
{
	struct suggest found;

	suggest_init(&found, word);
	for (size_t i = 0; i < n; i++)
		suggest_try(&found, list[i]);
	return found.best;
}
