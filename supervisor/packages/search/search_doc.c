/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_doc.c - gathers and weighs the words of a template, for
 * template_index.c. The texts are a stranger's: words beyond SEARCH_DOC_WORDS
 * are left out, and a word that is repeated gains nothing after a few times.
 */
#include "supervisor/packages/search/search_doc.h"

#include <stdlib.h>

#include "base/mem.h"
#include "supervisor/packages/search/search_words.h"

static const struct {
	float weight;
	unsigned most; /* how often a word counts */
} places[SEARCH_PLACES] = {
    [SEARCH_ID] = {3, 1},	   [SEARCH_NAME] = {2, 1},
    [SEARCH_DESCRIPTION] = {1, 2}, [SEARCH_PROPERTY] = {0.7F, 1},
    [SEARCH_DETAIL] = {0.3F, 2},
};

/* FNV-1a */
uint32_t search_hash(const char *word, size_t n)
{
	uint32_t hash = UINT32_C(2166136261);

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)word[i]) * UINT32_C(16777619);
	return hash;
}

struct adding {
	struct search_doc_draft *draft;
	enum search_place place;
};

static bool add_word(void *arg, const char *word, size_t n)
{
	struct adding *a = arg;
	struct search_doc_draft *d = a->draft;

	d->words[d->n++] =
	    (struct search_doc_word){search_hash(word, n), a->place};
	return d->n < SEARCH_DOC_WORDS;
}

bool search_doc_add(struct search_doc_draft *d, enum search_place place,
		    const char *text, size_t len)
{
	struct adding a = {d, place};

	if (d->words == NULL)
		d->words = xcalloc(SEARCH_DOC_WORDS, sizeof(*d->words));
	if (d->n < SEARCH_DOC_WORDS)
		search_words_each(text, len, add_word, &a);
	return d->n < SEARCH_DOC_WORDS;
}

static int by_hash_and_place(const void *a, const void *b)
{
	const struct search_doc_word *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (int)x->place - (int)y->place;
}

struct search_doc *search_doc_finish(struct search_doc_draft *d)
{
	struct search_doc *doc =
	    xcalloc(1, sizeof(*doc) + d->n * sizeof(*doc->terms));
	const struct search_doc_word *w = d->words, *end = w + d->n;

	doc->users = 1;
	if (d->n > 0)
		qsort(d->words, d->n, sizeof(*w), by_hash_and_place);
	for (const struct search_doc_word *first = w; w < end; w++) {
		const float weight = places[w->place].weight;

		if (w->hash != first->hash || w->place != first->place)
			first = w;
		if (doc->n == 0 || doc->terms[doc->n - 1].hash != w->hash)
			doc->terms[doc->n++].hash = w->hash;
		if ((size_t)(w - first) < places[w->place].most)
			doc->terms[doc->n - 1].weight += weight;
		doc->length += weight;
	}
	free(d->words);
	*d = (struct search_doc_draft){0};
	return xrealloc(doc, search_doc_bytes(doc));
}

struct search_doc *search_doc_ref(struct search_doc *d)
{
	d->users++;
	return d;
}

void search_doc_unref(struct search_doc *d)
{
	if (d != NULL && --d->users == 0)
		free(d);
}

float search_doc_weight(const struct search_doc *d, uint32_t hash)
{
	for (size_t lo = 0, hi = d->n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->terms[mid].hash == hash)
			return d->terms[mid].weight;
		if (d->terms[mid].hash < hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

size_t search_doc_bytes(const struct search_doc *d)
{
	return sizeof(*d) + d->n * sizeof(*d->terms);
}
