/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_rank.c - ranks documents by BM25 with weighed places of words (BM25F),
 * for run/threads/template_search.c. Statistics are of the given documents
 * alone: documents not visible to a searcher have no effect.
 */
#include "supervisor/packages/search/search_rank.h"

#include <math.h>
#include <stdlib.h>

#include "supervisor/packages/search/search_stem.h"
#include "supervisor/packages/search/search_words.h"

#define SATURATION 1.6F /* k1: the weight above which more adds little */
#define LENGTH 0.7F	/* b: how much a long document loses; 0 to 1 */
/* The factor of templates without effects for a question, such as "which invoices
   are overdue". */
#define READING 1.15F

struct query {
	uint32_t words[SEARCH_QUERY_WORDS];
	float worth[SEARCH_QUERY_WORDS]; /* of a word, by its rarity */
	size_t n;
	bool asks;   /* for facts */
	float usual; /* the mean length of the documents */
};

static bool add_word(void *arg, const char *word, size_t n)
{
	struct query *q = arg;
	uint32_t hash = search_hash(word, n);

	for (size_t i = 0; i < q->n; i++)
		if (q->words[i] == hash)
			return true;
	q->words[q->n++] = hash;
	return q->n < SEARCH_QUERY_WORDS;
}

/* Weigh the words of Q by the number of DOCS that have each. */
static void weigh(struct query *q, const struct search_doc *const *docs,
		  size_t n)
{
	size_t have[SEARCH_QUERY_WORDS] = {0};
	double length = 0;

	for (size_t d = 0; d < n; d++) {
		length += (double)docs[d]->length;
		for (size_t i = 0; i < q->n; i++)
			have[i] += search_doc_weight(docs[d], q->words[i]) > 0;
	}
	q->usual = length > 0 ? (float)(length / (double)n) : 1;
	for (size_t i = 0; i < q->n; i++)
		q->worth[i] = logf(1 + ((float)(n - have[i]) + 0.5F) /
					   ((float)have[i] + 0.5F));
}

static float score(const struct query *q, const struct search_doc *d)
{
	float norm = SATURATION * (1 - LENGTH + LENGTH * d->length / q->usual);
	float sum = 0;

	for (size_t i = 0; i < q->n; i++) {
		float weight = search_doc_weight(d, q->words[i]);

		if (weight > 0)
			sum += q->worth[i] * weight / (weight + norm);
	}
	return q->asks && d->reads ? sum * READING : sum;
}

static int best_first(const void *a, const void *b)
{
	const struct search_hit *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->doc < y->doc ? -1 : 1;
}

size_t search_rank(struct search_hit *hits,
		   const struct search_doc *const *docs, size_t n,
		   const char *query, size_t len)
{
	struct query q = {.asks = search_stem_asks(query, len)};
	size_t found = 0;

	search_words_each(query, len, add_word, &q);
	weigh(&q, docs, n);
	for (size_t d = 0; d < n; d++) {
		float s = score(&q, docs[d]);

		if (s > 0)
			hits[found++] = (struct search_hit){d, s};
	}
	if (found > 0)
		qsort(hits, found, sizeof(*hits), best_first);
	return found;
}
