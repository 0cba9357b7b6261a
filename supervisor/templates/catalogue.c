/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.c - loads every template of the configured folders, and finds one
 * by id and version. server.c and reload.c load it, tools and runs ask it. A
 * package that is broken, or there twice, is left out and listed as a problem
 * in the log and for "paddock doctor"; the others are served.
 */
#include "supervisor/templates/catalogue.h"

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
#include "supervisor/templates/template_load.h"

#define WHY_BYTES 1024
#define PACKAGES_MAX 4096 /* in all folders together */

static void problem(struct catalogue *c, const char *path, const char *errmsg)
{
	char *quoted = xstrdup(errmsg);

	for (char *q = quoted; (q = strchr(q, '"')) != NULL;)
		*q = '\'';
	log_warn("catalogue", "skipped=\"%s\" msg=\"%s\"", path, quoted);
	free(quoted);
	c->problems =
	    xrealloc(c->problems, (c->n_problems + 1) * sizeof(*c->problems));
	c->problems[c->n_problems++] = (struct catalogue_problem){
	    .path = xstrdup(path), .errmsg = xstrdup(errmsg)};
}

/* At PATH, which is told of as NAMED. */
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
 * NAME in the folder FD, which is DIR, is a package when it has a manifest of
 * any kind. True: it is one, good or not.
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

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The children's names, sorted; how many, at most MAX. The caller's. */
static size_t children(DIR *d, char ***names, size_t max)
{
	struct dirent *e;
	size_t n = 0;

	*names = xcalloc(max, sizeof(char *));
	while (n < max && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(*names)[n++] = xstrdup(e->d_name);
	qsort(*names, n, sizeof(char *), by_name);
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

/* Is DIRS[I] the same folder as one before it? Its packages count once. */
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

/* By id, then newest first, then by path so that the order is one. */
static int by_id_and_version(const void *a, const void *b)
{
	const struct template *x = *(struct template *const *)a;
	const struct template *y = *(struct template *const *)b;
	int rc = strcmp(x->id, y->id);

	if (rc == 0)
		rc = semver_cmp(&y->version, &x->version);
	return rc != 0 ? rc : strcmp(x->dir, y->dir);
}

static bool same(const struct template *a, const struct template *b)
{
	return strcmp(a->id, b->id) == 0 &&
	       semver_cmp(&a->version, &b->version) == 0;
}

/* Nothing says which of two was meant, so it is neither. */
static void clash(struct catalogue *c, const struct template *t,
		  const struct template *other)
{
	char errmsg[WHY_BYTES];

	errmsg_set(errmsg, sizeof(errmsg),
		   "%s %s is also in %s; both are skipped, remove one", t->id,
		   t->version_text, other->dir);
	problem(c, t->dir, errmsg);
}

static void drop_clashes(struct catalogue *c)
{
	size_t kept = 0;

	for (size_t i = 0, end; i < c->n; i = end) {
		for (end = i + 1; end < c->n && same(c->all[i], c->all[end]);)
			end++;
		if (end == i + 1) {
			c->all[kept++] = c->all[i];
			continue;
		}
		for (size_t j = i; j < end; j++)
			clash(c, c->all[j], c->all[j == i ? i + 1 : i]);
		for (size_t j = i; j < end; j++)
			template_unref(c->all[j]);
	}
	c->n = kept;
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
	c->offers = catalogue_index_new(c->all, c->n);
	return c;
}

struct catalogue *catalogue_load_configured(const struct config *config,
					    bool workers_are_others,
					    bool (*goes_on)(void *arg),
					    void *arg)
{
	const char **dirs = xcalloc(config->n_templates, sizeof(*dirs));
	struct catalogue *c;
	size_t n = 0;

	for (size_t i = 0; i < config->n_templates; i++)
		if (config->templates_given ||
		    access(config->templates[i], F_OK) == 0)
			dirs[n++] = config->templates[i];
	c = catalogue_load(dirs, n, workers_are_others, goes_on, arg);
	free(dirs);
	return c;
}

bool catalogue_shrink(struct catalogue *c, size_t n)
{
	catalogue_index_free(c->offers); /* they name what goes */
	c->offers = NULL;
	for (; n > 0 && c->n > 0; n--)
		template_unref(c->all[--c->n]);
	return c->n > 0;
}

void catalogue_free(struct catalogue *c)
{
	if (c == NULL)
		return;
	catalogue_index_free(c->offers);
	for (size_t i = 0; i < c->n; i++)
		template_unref(c->all[i]);
	for (size_t i = 0; i < c->n_problems; i++) {
		free(c->problems[i].path);
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

struct template *catalogue_find(const struct catalogue *c, const char *id,
				const char *range)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->all[i]->id, id) == 0 &&
		    (range == NULL || semver_in(&c->all[i]->version, range)))
			return c->all[i];
	return NULL;
}
