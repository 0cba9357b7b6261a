/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_search.c - ranks templates on a thread, for search_task_templates. The
 * words of templates never change; a search holds the index, not the catalogue, which
 * a reload may replace meanwhile.
 */
#include "supervisor/run/threads/template_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "supervisor/config/config.h"
#include "supervisor/packages/search/search_index.h"
#include "supervisor/packages/search/search_rank.h"

#define CPU_MS 1000 /* deadline; 10,000 templates take a hundredth */

struct template_search {
	struct thread_pool_job *job;
	struct search_index *index; /* a reference */
	char *query;
	char *only; /* the templates of the requestor's section; NULL: all */
	unsigned trust;
	const char *found[TEMPLATE_SEARCH_FOUND]; /* ids in INDEX */
	size_t n;
	template_search_done done;
	void *arg;
};

/* ---- on a thread, in bounded time: see search_rank() ---- */

static bool is_visible(const struct template_search *s,
		       const struct search_entry *e)
{
	return (e->trust & s->trust) != 0 &&
	       (s->only == NULL || words_have(s->only, e->id));
}

static void rank_templates(struct thread_pool_job *j, void *arg)
{
	struct template_search *s = arg;
	const struct search_index *x = s->index;
	const struct search_doc **docs =
	    xcalloc(x->n + 1, sizeof(struct search_doc *));
	const char **ids = xcalloc(x->n + 1, sizeof(char *));
	struct search_hit *hits = xcalloc(x->n + 1, sizeof(*hits));
	size_t n = 0, found;

	(void)j;
	for (size_t i = 0; i < x->n; i++)
		if (is_visible(s, &x->all[i])) {
			docs[n] = x->all[i].doc;
			ids[n++] = x->all[i].id;
		}
	found = search_rank(hits, docs, n, s->query, strlen(s->query));
	for (; s->n < found && s->n < TEMPLATE_SEARCH_FOUND; s->n++)
		s->found[s->n] = ids[hits[s->n].doc];
	free(docs);
	free(ids);
	free(hits);
}

/* ---- on the loop ---- */

static void on_ranked(void *arg, const struct thread_pool_result *end)
{
	struct template_search *s = arg;

	(void)end;
	s->done(s->arg, s->found, s->n);
}

static void drop_search(void *arg)
{
	struct template_search *s = arg;

	search_index_unref(s->index);
	free(s->query);
	free(s->only);
	free(s);
}

static const struct thread_pool_kind kind = {.name = "search",
					     .cpu_ms = CPU_MS,
					     .work = rank_templates,
					     .done = on_ranked,
					     .drop = drop_search};

struct template_search *
template_search_begin(struct thread_pool *o, struct requestor *q,
		      const struct catalogue *cat, enum template_trust trust,
		      const char *query, template_search_done done, void *arg)
{
	struct template_search *s = xcalloc(1, sizeof(*s));

	s->index = search_index_ref(cat->words);
	s->query = xstrdup(query);
	s->only = xstrdup_opt(q->section->templates);
	s->trust = trust;
	s->done = done;
	s->arg = arg;
	s->job = thread_pool_submit(o, q, &kind, s);
	if (s->job != NULL)
		return s;
	drop_search(s);
	return NULL;
}

void template_search_cancel(struct template_search *s)
{
	thread_pool_cancel(s->job);
}
