/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_rank.h - ranks documents for a query by BM25: a rare word counts more
 * than a common word, and a word counts less in a longer document. Pure.
 */
#ifndef SUPERVISOR_SEARCH_SEARCH_RANK_H
#define SUPERVISOR_SEARCH_SEARCH_RANK_H

#include "supervisor/packages/search/search_doc.h"

/* different words of a query that count; the first ones */
#define SEARCH_QUERY_WORDS 32

struct search_hit {
	size_t doc; /* index */
	float score;
};

/*
 * Write to HITS, with room for N, each of the N DOCS with a word of QUERY (LEN
 * bytes), the best first and equal documents in the order of DOCS. Return the number of
 * hits. DOCS and QUERY alone decide the order. N bounds the time: at most
 * SEARCH_QUERY_WORDS words are looked up in each document.
 */
size_t search_rank(struct search_hit *hits,
		   const struct search_doc *const *docs, size_t n,
		   const char *query, size_t len);

#endif
