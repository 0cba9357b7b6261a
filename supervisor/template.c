/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/template.h"

#include <errno.h>
#include <json-c/json_pointer.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/why.h"
#include "proto/json.h"
#include "supervisor/keeper.h"
#include "supervisor/manifest.h"
#include "supervisor/package.h"
#include "supervisor/shipped.h"
#include "supervisor/template_files.h"

#define MANIFEST "template.json"
#define LUA_BYTECODE '\x1b' /* how precompiled Lua begins */

/* The text of a Lua entry, into T. */
static int load_lua(struct template *t, int fd, char *why, size_t size)
{
	int rc = package_read(fd, t->entry, &t->code, &t->code_len, why, size);

	if (rc < 0)
		return rc;
	if (t->code_len > 0 && t->code[0] == LUA_BYTECODE)
		return why_set(why, size,
			       "%s is precompiled Lua, but must be source",
			       t->entry);
	if (!utf8_ok(t->code, t->code_len) ||
	    memchr(t->code, '\0', t->code_len) != NULL)
		return why_set(
		    why, size, "%s is not text in UTF-8 (see byte %zu)",
		    t->entry,
		    strnlen(t->code, utf8_valid_len(t->code, t->code_len)));
	return 0;
}

/* Started by root, workers are somebody else, with the rights of others. */
static int can_others(int fd, const struct stat *file, const char *entry,
		      char *why, size_t size)
{
	const mode_t need = S_IROTH | S_IXOTH;
	struct stat dir;

	if ((geteuid() != 0 && keeper_pid() == 0) ||
	    (fstat(fd, &dir) == 0 && (dir.st_mode & need) == need &&
	     (file->st_mode & need) == need))
		return 0;
	return why_set(why, size,
		       "others may not read and execute the folder and %s, but "
		       "workers are others here (chmod -R o+rX would do)",
		       entry);
}

static int look_at_program(struct template *t, int fd, char *why, size_t size)
{
	struct stat st;
	int file = package_open_file(fd, t->entry, &st, why, size);

	if (file < 0)
		return file;
	close(file);
	if ((st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
		return why_set(why, size,
			       "%s is not executable (chmod +x would do)",
			       t->entry);
	return can_others(fd, &st, t->entry, why, size);
}

static int load_entry(struct template *t, int fd, char *why, size_t size)
{
	char reason[512];
	int rc = t->runtime == RUNTIME_LUA
		     ? load_lua(t, fd, reason, sizeof(reason))
		     : look_at_program(t, fd, reason, sizeof(reason));

	if (rc < 0)
		why_set(why, size, "template.json#/runtime/entry: %s", reason);
	return rc;
}

/* The digest is of what T was made of: read anew, and compared. */
static int take_digest(struct template *t, int fd, const char *text, size_t len,
		       char *why, size_t size)
{
	size_t n = 0;
	struct package_bytes *kept =
	    xcalloc(t->n_files + 2, sizeof(*kept));
	int rc;

	kept[n++] = (struct package_bytes){MANIFEST, text, len};
	if (t->runtime == RUNTIME_LUA)
		kept[n++] = (struct package_bytes){t->entry, t->code,
						   t->code_len};
	for (size_t i = 0; i < t->n_files; i++)
		kept[n++] = (struct package_bytes){
		    t->files[i].path, t->files[i].data, t->files[i].len};
	rc = package_digest(fd, kept, n, t->digest, why, size);
	free(kept);
	return rc;
}

static struct template *load(int fd, char *why, size_t size)
{
	struct template *t = NULL;
	char *text;
	size_t len;

	if (package_read(fd, MANIFEST, &text, &len, why, size) < 0)
		return NULL;
	t = manifest_parse(text, len, why, size);
	if (t != NULL && (load_entry(t, fd, why, size) < 0 ||
			  template_files_load(t, fd, why, size) < 0 ||
			  package_stamp(fd, t->stamp, why, size) < 0 ||
			  take_digest(t, fd, text, len, why, size) < 0)) {
		template_unref(t);
		t = NULL;
	}
	free(text);
	if (t != NULL)
		t->shipped = shipped_is(fd);
	return t;
}

/* DIR's own path is found first, and what is read is what lies there. */
struct template *template_load(const char *dir, char *why, size_t size)
{
	char *path = realpath(dir, NULL);
	struct template *t = NULL;
	int fd = -1;

	if (path == NULL)
		why_set(why, size, "cannot open the folder: %s",
			strerror(errno));
	else
		fd = package_open(path, why, size);
	if (fd >= 0)
		t = load(fd, why, size);
	if (t != NULL && file_id_of(fd, &t->folder) == 0) {
		t->dir = path;
		path = NULL;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return t;
}

/* The folder that was read, with the bytes that were read then. */
static bool same_bytes(struct template *t, int fd, const char *stamp)
{
	char digest[65], why[256];

	if (package_digest(fd, NULL, 0, digest, why, sizeof(why)) < 0 ||
	    strcmp(digest, t->digest) != 0)
		return false;
	memcpy(t->stamp, stamp, sizeof(t->stamp));
	return true;
}

bool template_unchanged(struct template *t, char *why, size_t size)
{
	int fd = package_open(t->dir, why, size);
	struct file_id id = {0};
	char stamp[65] = "";
	bool same;

	if (fd < 0)
		return false;
	same = file_id_of(fd, &id) == 0 && file_id_same(&id, &t->folder) &&
	       package_stamp(fd, stamp, why, size) == 0 &&
	       (strcmp(stamp, t->stamp) == 0 || same_bytes(t, fd, stamp));
	close(fd);
	if (!same)
		why_set(why, size,
			"%s was changed after it was loaded, and what is there "
			"now is not run; the operator has it loaded by SIGHUP",
			t->dir);
	return same;
}

struct template *template_ref(struct template *t)
{
	t->users++;
	return t;
}

void template_unref(struct template *t)
{
	if (t == NULL || --t->users > 0)
		return;
	schema_free(t->inputs);
	schema_free(t->outputs);
	template_files_free(t);
	json_object_put(t->manifest);
	free(t->dir);
	free(t->id);
	free(t->version_text);
	free(t->name);
	free(t->description);
	free(t->entry);
	free(t->code);
	free(t->reads);
	free(t->auto_pointer);
	free(t);
}

bool template_promises(const struct template *t)
{
	const char *type = json_member_str(t->outputs_json, "type");

	return type != NULL && strcmp(type, "object") == 0;
}

bool template_auto_async(const struct template *t, struct json_object *inputs)
{
	struct json_object *o = NULL;

	if (t->auto_pointer == NULL ||
	    json_pointer_get(inputs, t->auto_pointer, &o) < 0 ||
	    !json_object_is_type(o, json_type_array))
		return false;
	return (int64_t)json_object_array_length(o) > t->auto_items_over;
}
