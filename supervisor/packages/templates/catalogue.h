/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - holds every template of this supervisor, by id and version.
 */
#ifndef SUPERVISOR_TEMPLATES_CATALOGUE_H
#define SUPERVISOR_TEMPLATES_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/packages/templates/catalogue_index.h"
#include "supervisor/packages/templates/template.h"

struct config;
struct search_index;

struct catalogue_problem {
	char *path; /* the skipped package, or a folder */
	char *real; /* PATH without links */
	char *errmsg;
	bool kept; /* the template loaded before is still served */
};

struct catalogue {
	struct template **all; /* owned; by id, then newest version first */
	size_t n;
	struct catalogue_index *offers; /* owned: resources and prompts */
	struct search_index *words; /* a reference: of the newest versions */
	struct catalogue_problem *problems; /* owned */
	size_t n_problems;
	bool workers_are_others;    /* see template_load.h */
	bool (*goes_on)(void *arg); /* asked while the catalogue is loaded */
	void *arg;
};

/*
 * Load every child folder of each of DIRS that has a template.json; a DIR that
 * has a template.json is a package. A broken package is skipped and becomes a
 * problem; so do both packages of the same id and version, and a directory that
 * cannot be read. Problems are logged. WORKERS_ARE_OTHERS: see template_load.h.
 * GOES_ON (NULL: always) is asked before each package: no ends loading.
 */
struct catalogue *catalogue_load(const char *const *dirs, size_t n,
				 bool workers_are_others,
				 bool (*goes_on)(void *arg), void *arg);
/*
 * A copy of the folders that a configuration names, for a thread that may
 * outlive the configuration.
 */
struct catalogue_folders {
	char **dirs; /* owned */
	size_t n;
	bool given; /* false: a folder may be missing */
};

void catalogue_folders_of(struct catalogue_folders *f, const struct config *c);
void catalogue_folders_fini(struct catalogue_folders *f);
struct catalogue *catalogue_load_folders(const struct catalogue_folders *f,
					 bool workers_are_others,
					 bool (*goes_on)(void *arg), void *arg);
/*
 * As catalogue_load() for the folders of C; a default folder, not named by the
 * operator, may be missing.
 */
struct catalogue *catalogue_load_configured(const struct config *c,
					    bool workers_are_others,
					    bool (*goes_on)(void *arg),
					    void *arg);
/*
 * Keep in C, which is to follow WAS, the templates of WAS whose packages are
 * broken now, unless C has the same id and version from another package. To be
 * called on the loop. Returns how many are kept; each is logged.
 */
size_t catalogue_keep(struct catalogue *c, const struct catalogue *was);
void catalogue_free(struct catalogue *c); /* NULL is fine */
/* Free N templates of C, which is being freed. Are there more? */
bool catalogue_shrink(struct catalogue *c, size_t n);

/* Find the newest version of ID; NULL: there is none. Borrowed. */
struct template *catalogue_newest(const struct catalogue *c, const char *id);
/*
 * Find the newest version of ID that satisfies RANGE (NULL: any); NULL: there
 * is none. Borrowed.
 */
struct template *catalogue_find(const struct catalogue *c, const char *id,
				const char *range);

#endif
