/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_index.c - gathers documents, for catalogue.c, which makes an index when
 * templates are loaded, and run/threads/template_search.c, which reads the index on
 * a thread.
 */
#include "supervisor/packages/search/search_index.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

struct search_index *search_index_new(size_t n)
{
	struct search_index *x =
	    xcalloc(1, sizeof(*x) + n * sizeof(struct search_entry));

	x->users = 1;
	return x;
}

void search_index_add(struct search_index *x, const char *id, unsigned trust,
		      struct search_doc *doc)
{
	struct search_entry *e = &x->all[x->n++];

	snprintf(e->id, sizeof(e->id), "%s", id);
	e->trust = trust;
	e->doc = search_doc_ref(doc);
}

struct search_index *search_index_ref(struct search_index *x)
{
	x->users++;
	return x;
}

void search_index_unref(struct search_index *x)
{
	if (x == NULL || --x->users > 0)
		return;
	for (size_t i = 0; i < x->n; i++)
		search_doc_unref(x->all[i].doc);
	free(x);
}
