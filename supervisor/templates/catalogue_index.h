/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_index.h - what templates offer beside their tools: resources and prompts,
 * those of the newest version of each, in the order of the catalogue.
 */
#ifndef SUPERVISOR_TEMPLATES_CATALOGUE_INDEX_H
#define SUPERVISOR_TEMPLATES_CATALOGUE_INDEX_H

#include <uthash.h>

#include "supervisor/templates/template.h"

#define CATALOGUE_INDEX_MAX 10000 /* of each kind, of all templates */

struct catalogue_entry {
	struct template *template; /* borrowed from the catalogue */
	size_t index;		   /* in the manifest's list */
	struct json_object *def;   /* borrowed from the manifest */
	const char *key;	   /* its uri, uriTemplate or name; borrowed */
	/* the next with this key, or NULL */
	struct catalogue_entry *next_same_key;
	UT_hash_handle hh; /* in list.by_key */
};

struct catalogue_index_list {
	struct catalogue_entry *all;
	size_t n;
	struct catalogue_entry *by_key;
};

struct catalogue_index {
	struct catalogue_index_list resources; /* with a uri */
	struct catalogue_index_list patterns;  /* with a uriTemplate */
	struct catalogue_index_list prompts;
};

/*
 * Gather them from the N templates ALL, which are in order and outlive the
 * offers. Of several with one key a client is given the first that it may see;
 * that there are several is logged.
 */
struct catalogue_index *catalogue_index_new(struct template *const *all,
					    size_t n);
void catalogue_index_free(struct catalogue_index *o); /* NULL is fine */

/* The first with KEY, or NULL; others with it follow. Borrowed. */
const struct catalogue_entry *
catalogue_index_find(const struct catalogue_index_list *list, const char *key);

#endif
