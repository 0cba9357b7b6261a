/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_lock.c - reads requirements.txt and package-lock.json, for
 * template_build.c. The files are untrusted. A lock without a hash for each
 * file is refused, with a hint on how to make a valid lock.
 */
#include "cli/template/build_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/dir_walk.h"
#include "base/text/requirements.h"
#include "cli/template/npm_lock.h"
#include "cli/terminal/terminal.h"
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

/*
 * Parse TEXT of the file AT into an object, the caller's; NULL: invalid, the
 * reason printed.
 */
static struct json_object *parse_lock(const struct buf *text, const char *at)
{
	struct json_error err;
	struct json_object *o = NULL;
	const char *bytes = buf_len(text) > 0 ? buf_data(text) : "";
	char *copy = xasprintf("%.*s", (int)buf_len(text), bytes);

	if (json_parse(&o, bytes, buf_len(text), &err) < 0) {
		json_error_place(&err, copy);
		message_print("%s: %s", at, err.text);
	} else if (!json_object_is_type(o, json_type_object)) {
		message_print("%s is no object", at);
		json_object_put(o);
		o = NULL;
	}
	free(copy);
	return o;
}

static void put_lock_tree(struct buf *text, struct json_object *o)
{
	size_t n;
	const char *s =
	    json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN, &n);

	buf_drop(text, buf_len(text));
	buf_add(text, s, n);
}

/* Check both files, and keep in L only checked members, for npm. 0 or -1. */
static int check_trees(struct build_lock *l, struct json_object *lock,
		       struct json_object *about, const char *at)
{
	struct json_object *lock_out, *about_out;
	char errmsg[1024];

	if (!json_object_is_type(json_member(lock, "packages"),
				 json_type_object)) {
		message_print("%s has no \"packages\", as one of npm 7 or "
			      "later has",
			      at);
		message_more("  hint: " NPM_LOCK);
		return -1;
	}
	if (npm_lock_check(lock, about, l->kind->files[1], &lock_out,
			   &about_out, errmsg, sizeof(errmsg)) < 0) {
		message_print("%s: %s", at, errmsg);
		return -1;
	}
	put_lock_tree(&l->text[0], lock_out);
	put_lock_tree(&l->text[1], about_out);
	json_object_put(lock_out);
	json_object_put(about_out);
	return 0;
}

static int check_npm(struct build_lock *l, const char *at)
{
	struct json_object *lock = parse_lock(&l->text[0], at);
	struct json_object *about =
	    lock != NULL ? parse_lock(&l->text[1], l->kind->files[1]) : NULL;
	int rc = about != NULL ? check_trees(l, lock, about, at) : -1;

	json_object_put(lock);
	json_object_put(about);
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

/* ---- either lock ---- */

/*
 * Read the file NAME of FD into TO. 1: read; 0: no such file; -1: failed, the
 * reason printed.
 */
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

int build_lock_read(int fd, const char *dir,
		    struct build_lock locks[BUILD_KINDS])
{
	struct stat st;
	int n = 0, rc = 0;

	for (size_t i = 0; i < BUILD_KINDS && rc >= 0; i++) {
		rc = read_kind(fd, dir, &build_kinds[i], &locks[n]);
		n += rc == 1;
	}
	if (rc >= 0 && n > 0)
		return n;
	if (rc >= 0) {
		if (fstatat(fd, build_kinds[1].files[1], &st,
			    AT_SYMLINK_NOFOLLOW) == 0)
			message_print(
			    "%s has a package.json and no package-lock.json, "
			    "which says what is fetched",
			    dir);
		else
			message_print(
			    "%s has neither requirements.txt nor "
			    "package-lock.json, which say what is fetched",
			    dir);
		for (size_t i = 0; i < BUILD_KINDS; i++)
			message_more("  hint: %s: %s", build_kinds[i].files[0],
				     build_kinds[i].made_by);
	}
	while (n > 0)
		build_lock_fini(&locks[--n]);
	return -1;
}

void build_lock_fini(struct build_lock *l)
{
	for (size_t i = 0; i < BUILD_LOCK_FILES; i++)
		buf_fini(&l->text[i]);
}
