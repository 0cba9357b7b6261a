/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_index.h - the documents of a catalogue, for searches on threads: a search
 * holds the index alone, so templates are never freed with a search.
 */
#ifndef SUPERVISOR_SEARCH_SEARCH_INDEX_H
#define SUPERVISOR_SEARCH_SEARCH_INDEX_H

#include "supervisor/packages/search/search_doc.h"

#define SEARCH_ID_MAX 64 /* bytes of a templateId */

struct search_index {
	unsigned
	    users; /* counted on the loop, or before the loop has the index */
	size_t n;
	struct search_entry {
		char id[SEARCH_ID_MAX + 1];
		unsigned trust;		/* bits of enum template_trust */
		struct search_doc *doc; /* a reference */
	} all[];
};

/* Make an index with room for N entries, and one user. */
struct search_index *search_index_new(size_t n);
/* Add DOC, which gets a user, as the last entry. */
void search_index_add(struct search_index *x, const char *id, unsigned trust,
		      struct search_doc *doc);
struct search_index *search_index_ref(struct search_index *x);
void search_index_unref(struct search_index *x); /* NULL is fine */

#endif
