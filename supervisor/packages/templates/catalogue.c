/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.c - loads every template of the configured folders, and finds a
 * template by id and version. server.c and reload.c load the catalogue; tools
 * and runs ask it. A package that is broken, or there twice, is left out and
 * listed as a problem in the log and for "paddock doctor"; the other packages
 * are served.
 */
#include "supervisor/packages/templates/catalogue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "base/text/errmsg.h"
#include "supervisor/config/config.h"
#include "supervisor/packages/search/search_index.h"
#include "supervisor/packages/templates/template_load.h"

#define WHY_BYTES 1024
#define PACKAGES_MAX 4096 /* most entries of a folder */

static void problem(struct catalogue *c, const char *path, const char *errmsg)
{
	char *quoted = xstrdup(errmsg), *real = realpath(path, NULL);

	for (char *q = quoted; (q = strchr(q, '"')) != NULL;)
		*q = '\'';
	log_warn("catalogue", "skipped=\"%s\" msg=\"%s\"", path, quoted);
	free(quoted);
	if (real == NULL)
		real = xstrdup(path);
	c->problems =
	    xrealloc(c->problems, (c->n_problems + 1) * sizeof(*c->problems));
	c->problems[c->n_problems++] = (struct catalogue_problem){
	    .path = xstrdup(path), .real = real, .errmsg = xstrdup(errmsg)};
}

/* Load the package at PATH; problems name the package NAMED. */
static void load_package(struct catalogue *c, const char *path,
			 const char *named)
{
	char errmsg[WHY_BYTES];
	struct template *t;

	if (c->goes_on != NULL && !c->goes_on(c->arg))
		return;
	t = template_load(path, c->workers_are_others, errmsg, sizeof(errmsg));
	if (t == NULL) {
		problem(c, named, errmsg);
		return;
	}
	c->all = xrealloc(c->all, (c->n + 1) * sizeof(struct template *));
	c->all[c->n++] = t;
}

/*
 * Load the entry NAME of the folder FD (DIR) if NAME is a package, with a
 * manifest of any kind. True: NAME is a package, good or broken.
 */
static bool look_at(struct catalogue *c, int fd, const char *dir,
		    const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	char *manifest = xasprintf("%s/template.json", name);
	bool package;
	char errmsg[WHY_BYTES];
	struct stat st;

	package = fstatat(fd, manifest, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (package) {
		load_package(c, path, strcmp(name, ".") == 0 ? dir : path);
	} else if (errno != ENOENT && errno != ENOTDIR) {
		errmsg_set(errmsg, sizeof(errmsg), "cannot look into it: %s",
			   strerror(errno));
		problem(c, path, errmsg);
	}
	free(manifest);
	free(path);
	return package;
}

static int compare_templates(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * List the children's names, sorted, into *NAMES (the caller's). Returns how
 * many, at most MAX.
 */
static size_t children(DIR *d, char ***names, size_t max)
{
	struct dirent *e;
	size_t n = 0;

	*names = xcalloc(max, sizeof(char *));
	while (n < max && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(*names)[n++] = xstrdup(e->d_name);
	qsort(*names, n, sizeof(char *), compare_templates);
	return n;
}

static void load_dir(struct catalogue *c, const char *dir)
{
	DIR *d = opendir(dir);
	char errmsg[WHY_BYTES], **names;
	size_t n;

	if (d == NULL) {
		errmsg_set(errmsg, sizeof(errmsg), "cannot read the folder: %s",
			   strerror(errno));
		problem(c, dir, errmsg);
		return;
	}
	if (look_at(c, dirfd(d), dir, ".")) {
		closedir(d);
		return;
	}
	n = children(d, &names, PACKAGES_MAX + 1);
	if (n > PACKAGES_MAX) {
		errmsg_set(errmsg, sizeof(errmsg),
			   "the folder has more than %d entries", PACKAGES_MAX);
		problem(c, dir, errmsg);
	}
	for (size_t i = 0; i < n; i++) {
		if (n <= PACKAGES_MAX)
			look_at(c, dirfd(d), dir, names[i]);
		free(names[i]);
	}
	free(names);
	closedir(d);
}

/*
 * Is DIRS[I] the same folder as an earlier folder? The packages of a folder
 * count once.
 */
static bool seen(const char *const *dirs, size_t i)
{
	struct stat a, b;

	if (stat(dirs[i], &a) < 0)
		return false;
	for (size_t j = 0; j < i; j++)
		if (stat(dirs[j], &b) == 0 && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return true;
	return false;
}

/*
 * Order by id, then newest version first, then by path, so that the order is
 * always the same.
 */
static int by_id_and_version(const void *a, const void *b)
{
	const struct template *x = *(struct template *const *)a;
	const struct template *y = *(struct template *const *)b;
	int rc = strcmp(x->id, y->id);

	if (rc == 0)
		rc = semver_cmp(&y->version, &x->version);
	return rc != 0 ? rc : strcmp(x->dir, y->dir);
}

static void drop_clashes(struct catalogue *c)
{
	char errmsg[WHY_BYTES];
	size_t kept = 0;

	for (size_t i = 0, end; i < c->n; i = end) {
		const struct template *first = c->all[i];

		end = i + 1;
		while (end < c->n && strcmp(c->all[end]->id, first->id) == 0 &&
		       semver_cmp(&c->all[end]->version, &first->version) == 0)
			end++;
		if (end == i + 1) {
			c->all[kept++] = c->all[i];
			continue;
		}
		/* nothing says which package was meant, so none is served */
		for (size_t j = i; j < end; j++) {
			const struct template *t = c->all[j];

			errmsg_set(errmsg, sizeof(errmsg),
				   "%s %s is also in %s; both are skipped, "
				   "remove one",
				   t->id, t->version_text,
				   c->all[j == i ? i + 1 : i]->dir);
			problem(c, t->dir, errmsg);
		}
		for (size_t j = i; j < end; j++)
			template_unref(c->all[j]);
	}
	c->n = kept;
}

static void index_templates(struct catalogue *c)
{
	size_t bytes = 0;

	c->offers = catalogue_index_new(c->all, c->n);
	c->words = search_index_new(c->n);
	for (size_t i = 0; i < c->n; i++) {
		struct template *t = c->all[i];

		if (i == 0 || strcmp(c->all[i - 1]->id, t->id) != 0)
			search_index_add(c->words, t->id, t->trust, t->words);
		bytes += search_doc_bytes(t->words) + strlen(t->signature);
	}
	log_debug("catalogue", "templates=%zu search_bytes=%zu", c->n, bytes);
}

static void forget_index(struct catalogue *c)
{
	catalogue_index_free(c->offers);
	search_index_unref(c->words);
	c->offers = NULL;
	c->words = NULL;
}

struct catalogue *catalogue_load(const char *const *dirs, size_t n,
				 bool workers_are_others,
				 bool (*goes_on)(void *arg), void *arg)
{
	struct catalogue *c = xcalloc(1, sizeof(*c));

	c->workers_are_others = workers_are_others;
	c->goes_on = goes_on;
	c->arg = arg;
	for (size_t i = 0; i < n; i++)
		if (!seen(dirs, i))
			load_dir(c, dirs[i]);
	if (c->n > 0) {
		qsort(c->all, c->n, sizeof(struct template *),
		      by_id_and_version);
		drop_clashes(c);
	}
	index_templates(c);
	return c;
}

void catalogue_folders_of(struct catalogue_folders *f, const struct config *c)
{
	*f = (struct catalogue_folders){.n = c->n_templates,
					.given = c->templates_given};
	f->dirs = xcalloc(f->n + 1, sizeof(*f->dirs));
	for (size_t i = 0; i < f->n; i++)
		f->dirs[i] = xstrdup(c->templates[i]);
}

void catalogue_folders_fini(struct catalogue_folders *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->dirs[i]);
	free(f->dirs);
}

struct catalogue *catalogue_load_folders(const struct catalogue_folders *f,
					 bool workers_are_others,
					 bool (*goes_on)(void *arg), void *arg)
{
	const char **dirs = xcalloc(f->n + 1, sizeof(*dirs));
	struct catalogue *c;
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (f->given || access(f->dirs[i], F_OK) == 0)
			dirs[n++] = f->dirs[i];
	c = catalogue_load(dirs, n, workers_are_others, goes_on, arg);
	free(dirs);
	return c;
}

struct catalogue *catalogue_load_configured(const struct config *config,
					    bool workers_are_others,
					    bool (*goes_on)(void *arg),
					    void *arg)
{
	struct catalogue_folders f;
	struct catalogue *c;

	catalogue_folders_of(&f, config);
	c = catalogue_load_folders(&f, workers_are_others, goes_on, arg);
	catalogue_folders_fini(&f);
	return c;
}

/* ---- packages that broke after they were loaded ---- */

static int by_real(const void *a, const void *b)
{
	const struct catalogue_problem *const *x = a, *const *y = b;

	return strcmp((*x)->real, (*y)->real);
}

/*
 * Find the problem of the package or folder PATH in ALL, which are sorted;
 * NULL: there is none.
 */
static const struct catalogue_problem *
problem_of(const struct catalogue_problem *const *all, size_t n, char *path)
{
	const struct catalogue_problem key = {.real = path}, *k = &key;
	const struct catalogue_problem *const *found =
	    bsearch(&k, all, n, sizeof(*all), by_real);

	return found != NULL ? *found : NULL;
}

/* Find the problem of T's folder, or of a folder above T's. */
static const struct catalogue_problem *
problem_with(const struct catalogue_problem *const *all, size_t n,
	     const struct template *t)
{
	const struct catalogue_problem *p = NULL;
	char *path = xstrdup(t->dir), *end;

	do {
		p = problem_of(all, n, path);
		end = strrchr(path, '/');
		if (end != NULL)
			*end = '\0';
	} while (p == NULL && end != NULL && end > path);
	free(path);
	return p;
}

/* Is a template with T's id and version among C's first N, which are sorted? */
static bool catalogue_has(const struct catalogue *c, size_t n,
			  struct template *t)
{
	for (size_t lo = 0, hi = n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;
		const struct template *other = c->all[mid];
		int rc = strcmp(t->id, other->id);

		if (rc == 0)
			rc = semver_cmp(&other->version, &t->version);
		if (rc == 0)
			return true;
		if (rc < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

size_t catalogue_keep(struct catalogue *c, const struct catalogue *was)
{
	const struct catalogue_problem **all =
	    xcalloc(c->n_problems + 1, sizeof(*all));
	size_t n = c->n;

	for (size_t i = 0; i < c->n_problems; i++)
		all[i] = &c->problems[i];
	qsort(all, c->n_problems, sizeof(*all), by_real);
	for (size_t i = 0; i < was->n && c->n_problems > 0; i++) {
		const struct catalogue_problem *p =
		    problem_with(all, c->n_problems, was->all[i]);

		struct template *t = was->all[i];

		if (p == NULL || catalogue_has(c, n, t))
			continue;
		log_warn("catalogue",
			 "kept=\"%s %s\" as=\"it was loaded before\" "
			 "path=\"%s\" until=\"it is mended or removed, and "
			 "templates are reloaded (paddock reload, or SIGHUP)\"",
			 t->id, t->version_text, p->path);
		c->problems[p - c->problems].kept = true;
		free(t->broken);
		t->broken = xstrdup(p->errmsg);
		c->all =
		    xrealloc(c->all, (c->n + 1) * sizeof(struct template *));
		c->all[c->n++] = template_ref(t);
	}
	free(all);
	if (c->n == n)
		return 0;
	qsort(c->all, c->n, sizeof(struct template *), by_id_and_version);
	forget_index(c);
	index_templates(c);
	return c->n - n;
}

bool catalogue_shrink(struct catalogue *c, size_t n)
{
	forget_index(c); /* the entries name templates freed next */
	for (; n > 0 && c->n > 0; n--)
		template_unref(c->all[--c->n]);
	return c->n > 0;
}

void catalogue_free(struct catalogue *c)
{
	if (c == NULL)
		return;
	forget_index(c);
	for (size_t i = 0; i < c->n; i++)
		template_unref(c->all[i]);
	for (size_t i = 0; i < c->n_problems; i++) {
		free(c->problems[i].path);
		free(c->problems[i].real);
		free(c->problems[i].errmsg);
	}
	free(c->all);
	free(c->problems);
	free(c);
}

struct template *catalogue_newest(const struct catalogue *c, const char *id)
{
	return catalogue_find(c, id, NULL);
}

/* Return the place in C of the newest version of ID, or C->n. */
static size_t first_of(const struct catalogue *c, const char *id)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(c->all[mid]->id, id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct template *catalogue_find(const struct catalogue *c, const char *id,
				const char *range)
{
	for (size_t i = first_of(c, id);
	     i < c->n && strcmp(c->all[i]->id, id) == 0; i++)
		if (range == NULL || semver_in(&c->all[i]->version, range))
			return c->all[i];
	return NULL;
}
