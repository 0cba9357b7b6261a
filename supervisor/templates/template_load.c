/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_load.c - loads one package: folder, manifest, files, digest. The
 * catalogue calls it for each. A package that is wrong, or that changed while
 * it was read, gives NULL and a sentence; template_unchanged() says no when it
 * changed since.
 */
#include "supervisor/templates/template_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "supervisor/package/diagnostics.h"
#include "supervisor/package/package.h"
#include "supervisor/templates/manifest.h"
#include "supervisor/templates/template_entry.h"
#include "supervisor/templates/template_files.h"
#include "supervisor/templates/template_shipped.h"

/* The digest is of what T was made of: read anew, and compared. */
static int take_digest(struct template *t, int fd, const char *text, size_t len,
		       char *errmsg, size_t size)
{
	size_t n = 0;
	struct package_bytes *kept = xcalloc(t->n_files + 2, sizeof(*kept));
	int rc;

	kept[n++] = (struct package_bytes){MANIFEST_FILE, text, len};
	if (t->runtime == RUNTIME_LUA)
		kept[n++] =
		    (struct package_bytes){t->entry, t->code, t->code_len};
	for (size_t i = 0; i < t->n_files; i++)
		kept[n++] = (struct package_bytes){
		    t->files[i].path, t->files[i].data, t->files[i].len};
	rc = package_digest(fd, kept, n, t->digest, errmsg, size);
	free(kept);
	return rc;
}

/* What T's manifest names, and then the whole of it. */
static int load_files(struct template *t, int fd, bool others, const char *text,
		      size_t len, struct diagnostics *f)
{
	char errmsg[1024];
	int rc = template_entry_load(t, fd, others, f);

	if (template_files_load(t, fd, f) < 0 || rc < 0)
		return -EINVAL;
	if (package_stamp(fd, t->stamp, errmsg, sizeof(errmsg)) < 0 ||
	    take_digest(t, fd, text, len, errmsg, sizeof(errmsg)) < 0)
		return diagnostics_add(f, DIAGNOSTIC_ERROR, NULL, NULL, "%s",
				       errmsg);
	return 0;
}

static struct template *load(int fd, bool others, struct diagnostics *f)
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
	if (t != NULL)
		t->shipped = template_shipped_is(fd);
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
		t = load(fd, others, f);
	if (t != NULL && file_id_of(fd, &t->folder) == 0) {
		t->dir = path;
		path = NULL;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return t;
}

/* DIR's own path is found first, and what is read is what lies there. */
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

/* The folder that was read, with the bytes that were read then. */
static bool same_bytes(struct template *t, int fd, const char *stamp)
{
	char digest[65], errmsg[256];

	if (package_digest(fd, NULL, 0, digest, errmsg, sizeof(errmsg)) < 0 ||
	    strcmp(digest, t->digest) != 0)
		return false;
	memcpy(t->stamp, stamp, sizeof(t->stamp));
	return true;
}

bool template_unchanged(struct template *t, char *errmsg, size_t size)
{
	int fd = package_open(t->dir, errmsg, size);
	struct file_id id = {0};
	char stamp[65] = "";
	bool same;

	if (fd < 0)
		return false;
	same = file_id_of(fd, &id) == 0 && file_id_same(&id, &t->folder) &&
	       package_stamp(fd, stamp, errmsg, size) == 0 &&
	       (strcmp(stamp, t->stamp) == 0 || same_bytes(t, fd, stamp));
	close(fd);
	if (!same)
		errmsg_set(
		    errmsg, size,
		    "%s was changed after it was loaded, and what is there "
		    "now is not run; the operator has it loaded by SIGHUP",
		    t->dir);
	return same;
}
