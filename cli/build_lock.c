/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_lock.c - requirements.txt and package-lock.json, for template_build.c: a
 * lock that does not say by a hash what each file has to be is no lock, and what
 * it lacks is told with how it is made. Others wrote them.
 */
#include "cli/build_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/dir_walk.h"
#include "base/text/requirements.h"
#include "cli/terminal.h"
#include "proto/json/json.h"

#define LOCK_BYTES_MAX ((size_t)16 << 20)

#define PIP_LOCK                                                               \
	"pip-compile --generate-hashes (of pip-tools) writes one, or uv pip "  \
	"compile --generate-hashes"
#define NPM_LOCK "npm install --package-lock-only writes one"

const struct build_kind build_kinds[BUILD_KINDS] = {
    {"pip", "site-packages", {"requirements.txt"}, PIP_LOCK},
    {"npm", "node_modules", {"package-lock.json", "package.json"}, NPM_LOCK}};

/* ---- package-lock.json ---- */

/* Of packages that others bring along, and of the package itself. */
static bool has_no_file(const char *path, struct json_object *p)
{
	return *path == '\0' || json_member_bool(p, "inBundle");
}

static int check_npm_package(const char *at, const char *path,
			     struct json_object *p)
{
	const char *from = json_member_str(p, "resolved");

	if (has_no_file(path, p) || json_member_bool(p, "dev"))
		return 0;
	if (json_member_bool(p, "link"))
		message_print("%s: %s is a link to a folder, and a package has "
			      "no links",
			      at, path);
	else if (from != NULL && strncmp(from, "https://", 8) != 0 &&
		 strncmp(from, "http://", 7) != 0)
		message_print("%s: %s comes from %s, which is no registry", at,
			      path, from);
	else if (json_member_str(p, "integrity") == NULL)
		message_print("%s: %s has no \"integrity\", so that nothing "
			      "says what its file has to be",
			      at, path);
	else
		return 0;
	return -1;
}

static int check_npm(struct build_lock *l, const char *at)
{
	struct json_error err;
	struct json_object *o = NULL, *packages;
	char *text = buf_take(&l->text[0], NULL);
	int rc = json_parse(&o, text, strlen(text), &err);

	buf_add_str(&l->text[0], text);
	if (rc < 0) {
		json_error_place(&err, text);
		message_print("%s: %s", at, err.text);
	}
	free(text);
	if (rc < 0)
		return -1;
	packages = json_member(o, "packages");
	if (!json_object_is_type(packages, json_type_object)) {
		message_print("%s has no \"packages\", as one of npm 7 or "
			      "later has",
			      at);
		message_more("  hint: " NPM_LOCK);
		rc = -1;
	} else {
		json_object_object_foreach(packages, path, p) {
			if (rc == 0)
				rc = check_npm_package(at, path, p);
		}
	}
	json_object_put(o);
	return rc;
}

/* ---- requirements.txt ---- */

static int check_pip(struct build_lock *l, const char *at)
{
	struct buf clean = {0};
	char errmsg[512];
	size_t line;
	int rc = requirements_parse(buf_data(&l->text[0]), buf_len(&l->text[0]),
				    &clean, &line, errmsg, sizeof(errmsg));

	if (rc < 0) {
		message_print("%s:%zu: %s", at, line, errmsg);
		buf_fini(&clean);
		return -1;
	}
	buf_fini(&l->text[0]);
	l->text[0] = clean;
	return 0;
}

/* ---- both ---- */

/* 1: it is there; 0: it is not; -1: it was said why not. */
static int read_one(int fd, const char *dir, const char *name, struct buf *to)
{
	struct stat st;
	int rc = 0, file = dir_walk_open_file(fd, name, &st);

	if (file == -ENOENT)
		return 0;
	if (file >= 0) {
		rc = buf_read(to, file, LOCK_BYTES_MAX);
		close(file);
	}
	if (file >= 0 && rc == 0)
		return 1;
	rc = file < 0 ? file : rc;
	message_print("%s/%s: %s", dir, name,
		      rc == -EMEDIUMTYPE || rc == -ELOOP
			  ? "this is no plain file"
		      : rc == -EFBIG ? "a lock has no more than 16 MiB"
				     : strerror(-rc));
	return -1;
}

static int read_kind(int fd, const char *dir, const struct build_kind *k,
		     struct build_lock *l)
{
	char *at = xasprintf("%s/%s", dir, k->files[0]);
	int rc;

	*l = (struct build_lock){.kind = k};
	rc = read_one(fd, dir, k->files[0], &l->text[0]);
	if (rc == 1 && k->files[1] != NULL) {
		rc = read_one(fd, dir, k->files[1], &l->text[1]);
		if (rc == 0) {
			message_print("%s/%s is not there, and %s is about "
				      "what it asks for",
				      dir, k->files[1], k->files[0]);
			rc = -1;
		}
	}
	if (rc == 1 &&
	    (k->files[1] != NULL ? check_npm(l, at) : check_pip(l, at)) < 0)
		rc = -1;
	if (rc <= 0)
		build_lock_fini(l);
	free(at);
	return rc;
}

static void say_none(int fd, const char *dir)
{
	struct stat st;

	if (fstatat(fd, build_kinds[1].files[1], &st, AT_SYMLINK_NOFOLLOW) == 0)
		message_print("%s has a package.json and no package-lock.json, "
			      "which says what is fetched",
			      dir);
	else
		message_print("%s has neither requirements.txt nor "
			      "package-lock.json, which say what is fetched",
			      dir);
	for (size_t i = 0; i < BUILD_KINDS; i++)
		message_more("  hint: %s: %s", build_kinds[i].files[0],
			     build_kinds[i].made_by);
}

int build_lock_read(int fd, const char *dir,
		    struct build_lock locks[BUILD_KINDS])
{
	int n = 0, rc = 0;

	for (size_t i = 0; i < BUILD_KINDS && rc >= 0; i++) {
		rc = read_kind(fd, dir, &build_kinds[i], &locks[n]);
		n += rc == 1;
	}
	if (rc >= 0 && n == 0)
		say_none(fd, dir);
	if (rc >= 0 && n > 0)
		return n;
	while (n > 0)
		build_lock_fini(&locks[--n]);
	return -1;
}

void build_lock_fini(struct build_lock *l)
{
	for (size_t i = 0; i < BUILD_LOCK_FILES; i++)
		buf_fini(&l->text[i]);
}
