/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_check.c - "paddockd --print-faults": reports all faults for a
 * package's author, while loading a package only decides whether the package
 * can run. Nothing of the package is executed, and each reader has its bounds.
 */
#include "supervisor/packages/grants/package_check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/templates/template_load.h"
#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/runtime/runtime.h"
#include "supervisor/packages/templates/manifest.h"
#include "supervisor/packages/templates/manifest_lint.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/package/package_tests.h"

struct package_check {
	const char *path;
	bool others; /* true: workers run as other users */
	int fd;
	char *text; /* text of the manifest */
	size_t len;
	struct json_object *tree; /* the parsed manifest */
	struct template *t; /* the template; NULL: the manifest is wrong */
	struct diagnostics f;
	struct json_object *said;
};

/* Take the paths of LIST into T->reads; borrowed. */
static void take_reads(struct template *t, struct json_object *list)
{
	size_t n = json_length(list);

	t->reads = xcalloc(n + 1, sizeof(*t->reads));
	json_each(one, list) {
		const char *path = json_object_get_string(one);

		if (path != NULL && *path == '/')
			t->reads[t->n_reads++] = path;
	}
}

/*
 * Return a template with the parts needed to check the code of a package whose
 * manifest is wrong; NULL: these parts are wrong, too.
 */
static struct template *half(struct json_object *tree)
{
	struct json_object *r = json_member(tree, "runtime");
	const char *type = json_member_str(r, "type");
	const char *entry = json_member_str(r, "entry");
	enum runtime_kind kind = 0;
	struct template *t;

	if (type == NULL)
		return NULL;
	if (runtime_find(type, &kind) && entry == NULL)
		entry = runtimes[kind]->entry;
	if (entry == NULL || !nofollow_is_plain(entry))
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->users = 1;
	t->runtime = kind;
	t->entry = xstrdup(entry);
	take_reads(t,
		   json_member(json_member(tree, "permissions"), "readPaths"));
	return t;
}

/*
 * Warn where the modules of a lock file are missing, or older than the lock
 * file.
 */
static void check_modules(struct package_check *c)
{
	static const struct {
		const char *lock, *folder;
	} built[] = {{"requirements.txt", "site-packages"},
		     {"package-lock.json", "node_modules"}};
	struct stat lock, folder;

	for (size_t i = 0; i < ARRAY_LEN(built); i++) {
		const char *at = built[i].lock;

		if (fstatat(c->fd, at, &lock, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (fstatat(c->fd, built[i].folder, &folder,
			    AT_SYMLINK_NOFOLLOW) != 0)
			diagnostics_add(&c->f, DIAGNOSTIC_WARNING, at, NULL,
					"there is no %s/ with what this names; "
					"paddock template build fetches it",
					built[i].folder);
		else if (lock.st_mtime > folder.st_mtime)
			diagnostics_add(&c->f, DIAGNOSTIC_WARNING, at, NULL,
					"this is younger than %s/, which may "
					"not have what it names; paddock "
					"template build fetches it",
					built[i].folder);
	}
}

static void check_package(struct package_check *c)
{
	char digest[65], errmsg[1024];
	struct template *t = NULL;
	bool loaded;

	c->fd = package_open(c->path, errmsg, sizeof(errmsg));
	if (c->fd < 0 || package_read(c->fd, MANIFEST_FILE, &c->text, &c->len,
				      errmsg, sizeof(errmsg)) < 0) {
		diagnostics_add(&c->f, DIAGNOSTIC_ERROR, NULL, NULL, "%s",
				errmsg);
		return;
	}
	c->t = manifest_parse(c->text, c->len, &c->f);
	if (json_parse(&c->tree, c->text, c->len, NULL) == 0) {
		manifest_lint(c->tree, &c->f);
		t = c->t != NULL ? template_ref(c->t) : half(c->tree);
	}
	if (t != NULL) {
		loaded = template_entry_load(t, c->fd, c->others, &c->f) == 0;
		runtimes[t->runtime]->check(t, c->fd, loaded, c->said, &c->f);
		template_unref(t);
	}
	if (c->t != NULL && runtimes[c->t->runtime]->sees_host)
		check_modules(c);
	if (c->t != NULL)
		template_files_load(c->t, c->fd, &c->f);
	if (package_digest(c->fd, NULL, 0, digest, errmsg, sizeof(errmsg)) < 0)
		diagnostics_add(&c->f, DIAGNOSTIC_ERROR, NULL, NULL, "%s",
				errmsg);
	package_tests_check(c->fd, &c->f);
	if (c->tree != NULL)
		diagnostics_place(&c->f, MANIFEST_FILE, c->text, c->len);
}

/*
 * Check the package at PATH. ERRMSG: why the catalogue left the package out;
 * NULL: it is served.
 */
static struct json_object *checkup(const struct catalogue *all,
				   const char *path, const char *named,
				   const char *errmsg)
{
	struct package_check c = {
	    .path = path, .others = all->workers_are_others, .fd = -1};
	const char *id, *version;

	c.said = json_object_new_object();
	json_set_mended(c.said, "path", named);
	check_package(&c);
	if (errmsg != NULL && diagnostics_errors(&c.f) == 0)
		diagnostics_add(&c.f, DIAGNOSTIC_ERROR, NULL, NULL, "%s",
				errmsg);
	id = json_member_str(c.tree, "templateId");
	version = json_member_str(c.tree, "version");
	if (id != NULL)
		json_set_mended(c.said, "templateId", id);
	if (version != NULL)
		json_set_mended(c.said, "version", version);
	diagnostics_sort(&c.f);
	json_add(c.said, "faults:o more?b", diagnostics_json(&c.f), c.f.more);
	diagnostics_fini(&c.f);
	template_unref(c.t);
	json_object_put(c.tree);
	free(c.text);
	if (c.fd >= 0)
		close(c.fd);
	return c.said;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(json_member_str(*(struct json_object *const *)a, "path"),
		      json_member_str(*(struct json_object *const *)b, "path"));
}

struct json_object *package_check_all(const struct catalogue *all)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < all->n; i++)
		json_object_array_add(list, checkup(all, all->all[i]->dir,
						    all->all[i]->dir, NULL));
	for (size_t i = 0; i < all->n_problems; i++) {
		const struct catalogue_problem *p = &all->problems[i];
		char *path = realpath(p->path, NULL);

		/* a folder that could not be read is no package */
		json_object_array_add(
		    list, checkup(all, path != NULL ? path : p->path, p->path,
				  p->errmsg));
		free(path);
	}
	json_object_array_sort(list, by_path);
	return list;
}
