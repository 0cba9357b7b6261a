/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_doc.h - the words of a template, weighed by their place, for
 * search_rank.h. A finished document never changes, so threads may share it.
 */
#ifndef SUPERVISOR_SEARCH_SEARCH_DOC_H
#define SUPERVISOR_SEARCH_SEARCH_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places of words. A word's weight counts once for each time up to a bound. */
enum search_place {
	SEARCH_ID,
	SEARCH_NAME,
	SEARCH_DESCRIPTION,
	SEARCH_PROPERTY, /* the name of an input */
	SEARCH_DETAIL,	 /* an input's description or one of its values */
	SEARCH_PLACES
};

/* words of a document that are read, repeated words included */
#define SEARCH_DOC_WORDS 1024

struct search_term {
	uint32_t hash;
	float weight;
};

struct search_doc {
	unsigned
	    users; /* counted on the loop, or before the loop has the document */
	size_t n;
	float length; /* the weights of all words, without the bound */
	bool reads;   /* the template changes nothing, by its own word */
	struct search_term terms[]; /* by hash, which are all different */
};

/* The hash by which WORD (N bytes), of search_words_each(), is compared. */
uint32_t search_hash(const char *word, size_t n);

/* Words as they are gathered; all zero at first. */
struct search_doc_draft {
	struct search_doc_word {
		uint32_t hash;
		enum search_place place;
	} * words; /* owned */
	size_t n;
};

/* Add the words of TEXT (LEN bytes). False: the document is full. */
bool search_doc_add(struct search_doc_draft *d, enum search_place place,
		    const char *text, size_t len);
/* Return the document of D, with one user. D is empty then. */
struct search_doc *search_doc_finish(struct search_doc_draft *d);
struct search_doc *search_doc_ref(struct search_doc *d);
void search_doc_unref(struct search_doc *d); /* NULL is fine */

/* Return the weight of HASH in D; 0: the word is not in D. */
float search_doc_weight(const struct search_doc *d, uint32_t hash);

size_t search_doc_bytes(const struct search_doc *d);

#endif
