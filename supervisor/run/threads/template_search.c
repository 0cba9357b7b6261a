/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_search.c - ranks templates on a thread, for search_task_templates.
 * The search has references to the templates, since a reload may come between;
 * the words of a loaded template never change.
 */
#include "supervisor/run/threads/template_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/packages/search/search_rank.h"

#define CPU_MS 1000 /* deadline; 10,000 templates take a hundredth */

struct template_search {
	struct thread_pool_job *job;
	struct template **all; /* references */
	const struct search_doc **docs;
	size_t n;
	char *query;
	struct search_hit *hits;
	size_t found;
	template_search_done done;
	void *arg;
};

/* On a thread; in bounded time, see search_rank(). */
static void rank_templates(struct thread_pool_job *j, void *arg)
{
	struct template_search *s = arg;

	(void)j;
	s->found =
	    search_rank(s->hits, s->docs, s->n, s->query, strlen(s->query));
	if (s->found > TEMPLATE_SEARCH_FOUND)
		s->found = TEMPLATE_SEARCH_FOUND;
}

static void on_ranked(void *arg, const struct thread_pool_result *end)
{
	struct template *found[TEMPLATE_SEARCH_FOUND];
	struct template_search *s = arg;

	(void)end;
	for (size_t i = 0; i < s->found; i++)
		found[i] = s->all[s->hits[i].doc];
	s->done(s->arg, found, s->found);
}

static void drop_search(void *arg)
{
	struct template_search *s = arg;

	for (size_t i = 0; i < s->n; i++)
		template_unref(s->all[i]);
	free(s->all);
	free(s->docs);
	free(s->hits);
	free(s->query);
	free(s);
}

static const struct thread_pool_kind kind = {.name = "search",
					     .cpu_ms = CPU_MS,
					     .work = rank_templates,
					     .done = on_ranked,
					     .drop = drop_search};

/* Add the newest version of each id that Q may see and TRUST may run. */
static void add_templates(struct template_search *s, const struct requestor *q,
			  const struct catalogue *cat,
			  enum template_trust trust)
{
	const char *before = "";

	for (size_t i = 0; i < cat->n; i++) {
		struct template *t = cat->all[i];
		bool newest = strcmp(before, t->id) != 0;

		before = t->id;
		if (!newest || (t->trust & trust) == 0 ||
		    !requestor_sees(q, t->id))
			continue;
		s->docs[s->n] = t->words;
		s->all[s->n++] = template_ref(t);
	}
}

struct template_search *
template_search_begin(struct thread_pool *o, struct requestor *q,
		      const struct catalogue *cat, enum template_trust trust,
		      const char *query, template_search_done done, void *arg)
{
	struct template_search *s = xcalloc(1, sizeof(*s));

	*s = (struct template_search){
	    .all = xcalloc(cat->n + 1, sizeof(struct template *)),
	    .docs = xcalloc(cat->n + 1, sizeof(*s->docs)),
	    .hits = xcalloc(cat->n + 1, sizeof(*s->hits)),
	    .query = xstrdup(query),
	    .done = done,
	    .arg = arg};
	add_templates(s, q, cat, trust);
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
