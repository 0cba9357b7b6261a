/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_index.c - gathers the resources and prompts of the newest versions,
 * by URI or name, for catalogue.c; methods look them up. Where several entries
 * have one key the first stays in front, the others follow and are logged;
 * entries beyond CATALOGUE_INDEX_MAX are left out.
 */
#include "supervisor/packages/templates/catalogue_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in catalogue_index_new() */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

const struct catalogue_entry *
catalogue_index_find(const struct catalogue_index_list *list, const char *key)
{
	struct catalogue_entry *o;

	HASH_FIND_STR(list->by_key, key, o);
	return o;
}

/* Add every member KEY of T's LIST to L. */
static void collect_entries(struct catalogue_index_list *l, struct template *t,
			    struct json_object *list, const char *key)
{
	size_t n = list != NULL ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n && l->n < CATALOGUE_INDEX_MAX; i++) {
		struct json_object *def = json_object_array_get_idx(list, i);
		const char *text = json_member_str(def, key);

		if (text == NULL)
			continue;
		l->all = xrealloc(l->all, (l->n + 1) * sizeof(*l->all));
		l->all[l->n++] = (struct catalogue_entry){
		    .template = t, .index = i, .def = def, .key = text};
	}
}

/* Fill the table by key. To be called when L->all has its final place. */
static void settle_entries(struct catalogue_index_list *l, const char *kind)
{
	if (l->n == CATALOGUE_INDEX_MAX)
		log_warn("catalogue",
			 "%s=%zu msg=\"no more than these are "
			 "offered\"",
			 kind, l->n);
	for (size_t i = 0; i < l->n; i++) {
		struct catalogue_entry *o = &l->all[i], *first;

		HASH_FIND_STR(l->by_key, o->key, first);
		if (first == NULL) {
			HASH_ADD_KEYPTR(hh, l->by_key, o->key, strlen(o->key),
					o);
			continue;
		}
		log_warn("catalogue",
			 "template=%s %s=\"%.200s\" msg=\"%s has it already, "
			 "which goes first for who sees both\"",
			 o->template->id, kind, o->key, first->template->id);
		while (first->next_same_key != NULL)
			first = first->next_same_key;
		if (first->template != o->template)
			first->next_same_key = o;
	}
}

struct catalogue_index *catalogue_index_new(struct template *const *all,
					    size_t n)
{
	struct catalogue_index *o = xcalloc(1, sizeof(*o));

	for (size_t i = 0; i < n; i++) {
		struct template *t = all[i];

		if (i > 0 && strcmp(all[i - 1]->id, t->id) == 0)
			continue; /* an older version */
		collect_entries(&o->resources, t, t->resources, "uri");
		collect_entries(&o->patterns, t, t->resources, "uriTemplate");
		collect_entries(&o->prompts, t, t->prompts, "name");
	}
	settle_entries(&o->resources, "resource");
	settle_entries(&o->patterns, "resource");
	settle_entries(&o->prompts, "prompt");
	return o;
}

static void list_fini(struct catalogue_index_list *l)
{
	HASH_CLEAR(hh, l->by_key);
	free(l->all);
}

void catalogue_index_free(struct catalogue_index *o)
{
	if (o == NULL)
		return;
	list_fini(&o->resources);
	list_fini(&o->patterns);
	list_fini(&o->prompts);
	free(o);
}
