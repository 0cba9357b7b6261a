/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - every template of this supervisor, by id and version.
 */
#ifndef SUPERVISOR_TEMPLATES_CATALOGUE_H
#define SUPERVISOR_TEMPLATES_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/templates/catalogue_index.h"
#include "supervisor/templates/template.h"

struct config;

struct catalogue_problem {
	char *path; /* the package that was skipped */
	char *errmsg;
};

struct catalogue {
	struct template **all; /* owned; by id, then newest version first */
	size_t n;
	struct catalogue_index *offers; /* owned: their resources and prompts */
	struct catalogue_problem *problems; /* owned */
	size_t n_problems;
	bool workers_are_others;    /* what it was loaded for */
	bool (*goes_on)(void *arg); /* while it is loaded */
	void *arg;
};

/*
 * Load every child folder of each of DIRS that has a template.json; a DIR
 * that has one itself is a package. A broken
 * package is skipped and becomes a problem; so do both of two with the same
 * id and version, and a directory that cannot be read. Problems are logged.
 * WORKERS_ARE_OTHERS: template_load.h. Before each package GOES_ON (NULL:
 * always) is asked: no ends it.
 */
struct catalogue *catalogue_load(const char *const *dirs, size_t n,
				 bool workers_are_others,
				 bool (*goes_on)(void *arg), void *arg);
/* The same of the folders that C names; one that it does not may be missing. */
struct catalogue *catalogue_load_configured(const struct config *c,
					    bool workers_are_others,
					    bool (*goes_on)(void *arg),
					    void *arg);
void catalogue_free(struct catalogue *c); /* NULL is fine */
/* C is being freed: N of its templates go now. Are there more? */
bool catalogue_shrink(struct catalogue *c, size_t n);

/* The newest version of ID; NULL: none. Borrowed. */
struct template *catalogue_newest(const struct catalogue *c, const char *id);
/* The newest of ID that satisfies RANGE (NULL: any); NULL: none. Borrowed. */
struct template *catalogue_find(const struct catalogue *c, const char *id,
				const char *range);

#endif
