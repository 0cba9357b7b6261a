/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_load.c - loads one package: folder, manifest, code, the files of
 * resources and prompts, digest. package_check.c and the catalogue call it for
 * each package. A wrong package, or a package changed while read, gives NULL
 * and a sentence; template_look.c finds later changes.
 */
#include "supervisor/packages/templates/template_load.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/templates/manifest.h"
#include "supervisor/packages/templates/template_index.h"
#include "supervisor/packages/templates/template_shipped.h"
#include "supervisor/runtime/runtime.h"

int template_entry_load(struct template *t, int fd, bool workers_are_others,
			struct diagnostics *f)
{
	char errmsg[512] = "";
	int rc = runtimes[t->runtime]->load(t, fd, workers_are_others, f,
					    errmsg, sizeof(errmsg));

	if (errmsg[0] != '\0')
		diagnostics_add(f, DIAGNOSTIC_ERROR, MANIFEST_FILE,
				"/runtime/entry", "%s", errmsg);
	return rc;
}

struct load {
	struct template *t;
	int fd;
	size_t bytes;
	struct diagnostics *f;
};

/* Read the file named by O, at the JSON Pointer AT, unless read before. */
static int load_file(struct load *l, struct json_object *o, const char *at)
{
	const char *path = json_member_str(o, "file");
	struct template *t = l->t;
	struct template_file f = {.path = path};
	char reason[512], place[160];

	if (path == NULL || template_file(t, path) != NULL)
		return 0;
	snprintf(place, sizeof(place), "%s/file", at);
	if (package_read(l->fd, path, &f.data, &f.len, reason, sizeof(reason)) <
	    0)
		return diagnostics_add(l->f, DIAGNOSTIC_ERROR, MANIFEST_FILE,
				       place, "%s", reason);
	t->files = xrealloc(t->files, (t->n_files + 1) * sizeof(f));
	t->files[t->n_files++] = f;
	l->bytes += f.len;
	if (l->bytes > TEMPLATE_FILES_MAX)
		return diagnostics_add(
		    l->f, DIAGNOSTIC_ERROR, MANIFEST_FILE, place,
		    "with %s the files of resources and "
		    "prompts have more than %zu bytes together",
		    path, TEMPLATE_FILES_MAX);
	return 0;
}

static int load_prompt(struct load *l, struct json_object *prompt, size_t i)
{
	struct json_object *messages = json_member(prompt, "messages");
	size_t n = json_object_array_length(messages);
	char at[128];
	int rc = 0;

	for (size_t j = 0;
	     l->bytes <= TEMPLATE_FILES_MAX && !l->f->more && j < n; j++) {
		struct json_object *content = json_member(
		    json_object_array_get_idx(messages, j), "content");

		snprintf(at, sizeof(at), "/prompts/%zu/messages/%zu/content", i,
			 j);
		if (load_file(l, content, at) < 0)
			rc = -EINVAL;
		snprintf(at, sizeof(at),
			 "/prompts/%zu/messages/%zu/content/resource", i, j);
		if (load_file(l, json_member(content, "resource"), at) < 0)
			rc = -EINVAL;
	}
	return rc;
}

int template_files_load(struct template *t, int fd, struct diagnostics *f)
{
	struct load l = {.t = t, .fd = fd, .f = f};
	size_t n = t->resources ? json_object_array_length(t->resources) : 0;
	char at[64];
	int rc = 0;

	for (size_t i = 0; l.bytes <= TEMPLATE_FILES_MAX && !f->more && i < n;
	     i++) {
		snprintf(at, sizeof(at), "/resources/%zu", i);
		if (load_file(&l, json_object_array_get_idx(t->resources, i),
			      at) < 0)
			rc = -EINVAL;
	}
	n = t->prompts ? json_object_array_length(t->prompts) : 0;
	for (size_t i = 0; l.bytes <= TEMPLATE_FILES_MAX && !f->more && i < n;
	     i++)
		if (load_prompt(&l, json_object_array_get_idx(t->prompts, i),
				i) < 0)
			rc = -EINVAL;
	return rc;
}

/*
 * Take the digest of the package, read anew, and compare with the bytes T was
 * made of.
 */
static int take_digest(struct template *t, int fd, const char *text, size_t len,
		       char *errmsg, size_t size)
{
	size_t n = 0;
	struct package_bytes *kept = xcalloc(t->n_files + 2, sizeof(*kept));
	struct package_size all = {0};
	int rc;

	kept[n++] = (struct package_bytes){MANIFEST_FILE, text, len};
	if (!runtimes[t->runtime]->sees_host)
		kept[n++] =
		    (struct package_bytes){t->entry, t->code, t->code_len};
	for (size_t i = 0; i < t->n_files; i++)
		kept[n++] = (struct package_bytes){
		    t->files[i].path, t->files[i].data, t->files[i].len};
	rc = package_digest_stamped(fd, kept, n, t->digest, t->stamp, &all,
				    errmsg, size);
	t->n_package = all.files;
	t->package_bytes = all.bytes;
	free(kept);
	return rc;
}

/* Load the files that T's manifest names, and then digest the whole package. */
static int load_files(struct template *t, int fd, bool others, const char *text,
		      size_t len, struct diagnostics *f)
{
	char errmsg[1024];
	int rc = template_entry_load(t, fd, others, f);

	if (template_files_load(t, fd, f) < 0 || rc < 0)
		return -EINVAL;
	if (take_digest(t, fd, text, len, errmsg, sizeof(errmsg)) < 0)
		return diagnostics_add(f, DIAGNOSTIC_ERROR, NULL, NULL, "%s",
				       errmsg);
	return 0;
}

static struct template *load_package(int fd, bool others, struct diagnostics *f)
{
	struct template *t;
	char *text, errmsg[1024];
	size_t len;

	if (package_read(fd, MANIFEST_FILE, &text, &len, errmsg,
			 sizeof(errmsg)) < 0) {
		diagnostics_add(f, DIAGNOSTIC_ERROR, NULL, NULL, "%s", errmsg);
		return NULL;
	}
	t = manifest_parse(text, len, f);
	if (t != NULL && load_files(t, fd, others, text, len, f) < 0) {
		diagnostics_place(f, MANIFEST_FILE, text, len);
		template_unref(t);
		t = NULL;
	}
	free(text);
	if (t != NULL) {
		t->shipped = template_shipped_is(fd);
		template_index(t);
	}
	return t;
}

static struct template *load_all(const char *dir, bool others,
				 struct diagnostics *f)
{
	char *path = realpath(dir, NULL), errmsg[1024];
	struct template *t = NULL;
	int fd = -1;

	if (path == NULL)
		errmsg_set(errmsg, sizeof(errmsg), "cannot open the folder: %s",
			   strerror(errno));
	else
		fd = package_open(path, errmsg, sizeof(errmsg));
	if (fd < 0)
		diagnostics_add(f, DIAGNOSTIC_ERROR, NULL, NULL, "%s", errmsg);
	else
		t = load_package(fd, others, f);
	if (t != NULL && file_id_of(fd, &t->folder) == 0) {
		t->dir = path;
		path = NULL;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return t;
}

/*
 * DIR's real path is found first, so that reading and later looks go to the
 * same folder.
 */
struct template *template_load(const char *dir, bool workers_are_others,
			       char *errmsg, size_t size)
{
	struct diagnostics f = {0};
	struct template *t = load_all(dir, workers_are_others, &f);

	if (t == NULL) {
		diagnostics_sort(&f);
		diagnostics_first(&f, errmsg, size);
	}
	diagnostics_fini(&f);
	return t;
}
