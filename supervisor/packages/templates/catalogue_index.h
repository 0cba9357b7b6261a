/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_index.h - lists the resources and prompts that templates offer
 * beside their tools: of the newest version of each template, in the order of
 * the catalogue.
 */
#ifndef SUPERVISOR_TEMPLATES_CATALOGUE_INDEX_H
#define SUPERVISOR_TEMPLATES_CATALOGUE_INDEX_H

#include <uthash.h>

#include "supervisor/packages/templates/template.h"

/* most entries of each kind, of all templates */
#define CATALOGUE_INDEX_MAX 10000

struct catalogue_entry {
	struct template *template; /* borrowed from the catalogue */
	size_t index;		   /* place in the manifest's list */
	struct json_object *def;   /* borrowed from the manifest */
	const char *key; /* the entry's uri, uriTemplate or name; borrowed */
	/* the next entry of the same key, or NULL */
	struct catalogue_entry *next_same_key;
	UT_hash_handle hh; /* entry in list.by_key */
};

struct catalogue_index_list {
	struct catalogue_entry *all;
	size_t n;
	struct catalogue_entry *by_key;
};

struct catalogue_index {
	struct catalogue_index_list resources; /* resources with a uri */
	struct catalogue_index_list patterns; /* resources with a uriTemplate */
	struct catalogue_index_list prompts;
};

/*
 * Gather the entries of the N templates ALL, which are in order and outlive the
 * index. Where entries share a key, a client gets the first entry visible to
 * it, and the log tells of the rest.
 */
struct catalogue_index *catalogue_index_new(struct template *const *all,
					    size_t n);
void catalogue_index_free(struct catalogue_index *o); /* NULL is fine */

/*
 * Find the first entry with KEY, or NULL; next_same_key leads to the others.
 * Borrowed.
 */
const struct catalogue_entry *
catalogue_index_find(const struct catalogue_index_list *list, const char *key);

#endif
