/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_write.c - artifacts into files, for "paddock run" and "paddock artifact". Their
 * names are a template's words: "a/b.txt" is b.txt in the folder a, and nothing
 * leads out of the folder that the user named. A file that could not be written
 * whole is removed again, and said to be missing.
 */
#include "cli/artifact_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/artifact_fetch.h"
#include "cli/file_name.h"
#include "cli/terminal.h"
#include "cli/server_flags.h"
#include "proto/json/json.h"

#define BEGIN_BYTES ((size_t)8 << 20)
#define NAMES_MAX 1000 /* a.csv, a-2.csv, … */
#define FOLDERS_MAX 32 /* that one is in; those further down are left out */

/* Where an artifact goes. */
struct sink {
	int fd;
	size_t unbegun; /* bytes that the disk has not been told to write */
};

/* The disk begins meanwhile; what is no file has none, which is no matter. */
static int write_all(void *arg, const void *p, size_t n)
{
	struct sink *to = arg;
	const char *at = p;

	to->unbegun += n;
	while (n > 0) {
		ssize_t wrote = write(to->fd, at, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -errno;
		at += wrote;
		n -= (size_t)wrote;
	}
	if (to->unbegun >= BEGIN_BYTES) {
		(void)sync_file_range(to->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
		to->unbegun = 0;
	}
	return 0;
}

/* ---- a place for it ---- */

/* Open AS in DIR for what is to come; -EEXIST: AS is something else. */
typedef int (*place)(int dir, const char *as);

static int new_file(int dir, const char *as)
{
	int fd =
	    openat(dir, as,
		   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

static int any_folder(int dir, const char *as)
{
	int fd;

	if (mkdirat(dir, as, 0777) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EEXIST : -errno;
	return fd;
}

/* Under the harmless name of the N bytes at NAME, or with a number; PATH grows. */
static int put_in(int dir, const char *name, size_t n, place open_it,
		  struct buf *path)
{
	char *part = xstrndup(name, n);
	char clean[FILE_NAME_SIZE], used[FILE_NAME_NUMBERED_SIZE];
	int fd = -EEXIST;

	file_name_sanitize(clean, part);
	free(part);
	for (unsigned i = 1; fd == -EEXIST && i <= NAMES_MAX; i++) {
		if (i == 1)
			snprintf(used, sizeof(used), "%s", clean);
		else
			file_name_numbered(used, clean, i);
		fd = open_it(dir, used);
	}
	buf_printf(path, "/%s", used);
	return fd;
}

static bool is_nothing(const char *part, size_t n)
{
	return strspn(part, ". ") >= n; /* "", "..", and what looks like it */
}

/*
 * A new file for what is called NAME, below DIR, in the folders that NAME has.
 * PATH, which ends in DIR's, gets them. The folder is *IN, the caller's.
 */
static int new_below(int dir, const char *name, struct buf *path, int *in)
{
	int fd = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	for (int depth = 0; fd >= 0 && (slash = strchr(name, '/')) != NULL;
	     name = slash + 1) {
		int next;

		if (is_nothing(name, (size_t)(slash - name)) ||
		    depth++ >= FOLDERS_MAX)
			continue;
		next =
		    put_in(fd, name, (size_t)(slash - name), any_folder, path);
		close(fd);
		fd = next;
	}
	*in = fd;
	return fd < 0 ? fd : put_in(fd, name, strlen(name), new_file, path);
}

/* ---- one ---- */

static int trouble(const char *path, int rc)
{
	return message_fail(CLI_TROUBLE, "%s: %s", path, strerror(-rc));
}

/* All of artifact ID into FD, which is closed; PATH is told of. */
static int fill(struct client *c, const char *id, int fd, const char *path)
{
	struct sink to = {.fd = fd};
	int rc = artifact_fetch(c, id, path, write_all, &to);

	/* some file systems say only now that the disk is full */
	if (close(fd) < 0 && rc == 0)
		rc = trouble(path, -errno);
	return rc;
}

static int save_into(struct client *c, struct json_object *artifact, int dir,
		     const char *dir_name, bool quiet)
{
	const char *id = json_member_str(artifact, "artifactId");
	const char *name = json_member_str(artifact, "name");
	struct buf path = {0};
	int fd, in = -1, rc;

	if (id == NULL)
		return 0;
	buf_add_str(&path, dir_name);
	fd = new_below(dir, name != NULL ? name : id, &path, &in);
	buf_add(&path, "", 1);
	if (fd < 0) {
		rc = trouble(buf_data(&path), fd);
	} else {
		rc = fill(c, id, fd, buf_data(&path));
		if (rc != 0)
			unlinkat(in, strrchr(buf_data(&path), '/') + 1, 0);
		else if (!quiet)
			message_more("wrote %s", buf_data(&path));
	}
	if (in >= 0)
		close(in);
	buf_fini(&path);
	return rc;
}

/* ---- all ---- */

/* As mkdir -p; the user named it. */
static int make_folders(const char *path)
{
	char *copy = xstrdup(path);
	int rc = 0;

	for (char *at = copy + 1; rc == 0 && *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			rc = -errno;
		*at = '/';
	}
	if (rc == 0 && mkdir(copy, 0777) < 0 && errno != EEXIST)
		rc = -errno;
	free(copy);
	return rc;
}

static void say_failed(struct json_object *view, size_t failed, size_t n)
{
	const char *id = json_member_str(view, "runId");

	if (n > 1)
		message_print("%zu of its %zu artifacts were not written",
			      failed, n);
	if (id != NULL)
		message_more(
		    "  hint: the server keeps them for a while: paddock "
		    "artifact get %s NAME%s",
		    id, server_flags());
}

int artifact_write_all(struct client *c, struct json_object *view,
		       const char *dir, bool quiet)
{
	struct json_object *list = json_member(view, "artifacts");
	size_t n = json_length(list);
	size_t failed = 0;
	int fd, rc = n > 0 ? make_folders(dir) : 0, first = 0;

	if (n == 0)
		return 0;
	fd = rc < 0 ? rc : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		first = trouble(dir, rc < 0 ? rc : -errno);
		failed = n;
	}
	for (size_t i = 0; fd >= 0 && i < n; i++) {
		rc = save_into(c, json_object_array_get_idx(list, i), fd, dir,
			       quiet);
		failed += rc != 0;
		if (first == 0)
			first = rc;
		if (rc >= CLI_SIGNALED) {
			failed += n - i - 1;
			break;
		}
	}
	if (fd >= 0)
		close(fd);
	if (failed > 0)
		say_failed(view, failed, n);
	return first;
}

int artifact_write_file(struct client *c, const char *id, const char *path)
{
	struct sink out = {.fd = STDOUT_FILENO};
	bool ours = true; /* the file was not there before */
	int fd, rc;

	if (strcmp(path, "-") == 0)
		return artifact_fetch(c, id, "stdout", write_all, &out);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST) {
		ours = false;
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	}
	if (fd < 0)
		return trouble(path, -errno);
	rc = fill(c, id, fd, path);
	if (rc != 0 && ours)
		unlink(path);
	else if (rc != 0)
		message_more("  so %s is not whole", path);
	return rc;
}
