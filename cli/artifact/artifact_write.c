/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_write.c - artifacts into files, for "paddock run" and "paddock
 * artifact". An artifact's name is a template's words: "a/b.txt" is b.txt in
 * the folder a, and no name leads out of the folder that the user named. A file
 * that could not be written whole is removed again and reported.
 */
#include "cli/artifact/artifact_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/artifact/artifact_fetch.h"
#include "cli/ask/ask.h"
#include "cli/terminal/file_name.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/server_flags.h"
#include "proto/json/json.h"

#define BEGIN_BYTES ((size_t)8 << 20)
#define NAMES_MAX 1000	     /* a.csv, a-2.csv, and so on */
#define HARMLESS ".artifact" /* appended to an obeyed name */
#define FOLDERS_MAX 32	     /* deeper folders are left out of the path */

/* The destination of an artifact's bytes. */
struct sink {
	int fd;
	size_t unbegun; /* bytes whose writing to disk has not been started */
};

/*
 * Write N bytes to the sink. From time to time start writing to disk, in
 * parallel with the fetch; for a pipe that fails, harmlessly.
 */
static int write_piece(void *arg, const void *p, size_t n)
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

/* ---- the file of an artifact ---- */

/* Open AS in DIR; -EEXIST: AS is something else, try another name. */
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

/*
 * Open the harmless name of the N bytes at NAME in DIR by OPEN_IT, or the name
 * with a number. Appends the name to PATH. Returns a descriptor or -errno.
 */
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

/*
 * Create a new file for the artifact NAME below DIR, in the folders that NAME
 * has. PATH, which ends in DIR's name, grows by them and the file's name. *IN
 * is the file's folder, the caller's to close. Returns a descriptor or -errno.
 */
static int new_below(int dir, const char *name, struct buf *path, int *in)
{
	int fd = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	for (int depth = 0; fd >= 0 && (slash = strchr(name, '/')) != NULL;
	     name = slash + 1) {
		int next;

		/* "", ".." and the like */
		if (strspn(name, ". ") >= (size_t)(slash - name) ||
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

/* ---- a single artifact ---- */

static int trouble(const char *path, int rc)
{
	return message_fail(CLI_TROUBLE, "%s: %s", path, strerror(-rc));
}

/* Fetch artifact ID into FD and close FD. PATH is for messages. */
static int fill_artifact(struct client *c, const char *id, int fd,
			 const char *path)
{
	struct sink to = {.fd = fd};
	int rc = artifact_fetch(c, id, path, write_piece, &to);

	/* some file systems report a full disk only now */
	if (close(fd) < 0 && rc == 0)
		rc = trouble(path, -errno);
	return rc;
}

/*
 * Is NAME a file that agents and tools obey wherever they find it? A user who
 * runs such a tool near artifacts has to know that a template wrote the file.
 */
static bool is_obeyed(const char *name)
{
	static const char *const names[] = {
	    "AGENTS.md",      "CLAUDE.md",	    "GEMINI.md",
	    "Makefile",	      "makefile",	    "GNUmakefile",
	    "CMakeLists.txt", "package.json",	    "conftest.py",
	    "pyproject.toml", "setup.py",	    "setup.cfg",
	    "tox.ini",	      "sitecustomize.py",   "usercustomize.py",
	    "Dockerfile",     "docker-compose.yml", "Rakefile",
	    "Gemfile",	      "build.gradle",	    "Jenkinsfile",
	    "Justfile",	      "justfile",	    "copilot-instructions.md",
	    "SKILL.md",	      "settings.json",	    "mcp.json"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	return false;
}

/* The folder for all artifacts of a run. */
struct folder {
	int fd;
	const char *name;
	bool quiet;
	bool asks; /* before using a name that programs obey */
};

/*
 * Return the name under which NAME is written, the caller's to free: NAME, or
 * with HARMLESS appended if programs obey the file and the user has not agreed.
 */
static char *name_in(const struct folder *to, const char *name)
{
	const char *slash = strrchr(name, '/');
	char clean[FILE_NAME_SIZE];
	char *what, *as;
	bool yes;

	file_name_sanitize(clean, slash != NULL ? slash + 1 : name);
	if (!to->asks || !is_obeyed(clean))
		return xstrdup(name);
	what = xasprintf("other programs obey a file that is called %s, and a "
			 "template wrote this one: write it into %s by that "
			 "name?",
			 clean, to->name);
	yes = ask_possible() && ask_yes(what);
	free(what);
	if (yes)
		return xstrdup(name);
	as = xasprintf("%s" HARMLESS, name);
	message_more("%s is written as %s" HARMLESS
		     ", since other programs obey a file of that name",
		     clean, clean);
	return as;
}

static int save_into(struct client *c, struct json_object *artifact,
		     const struct folder *to)
{
	const char *id = json_member_str(artifact, "artifactId");
	const char *given = json_member_str(artifact, "name");
	static bool warned; /* of a name that programs obey */
	const char *file;
	struct buf path = {0};
	char *name;
	int fd, in = -1, rc;

	if (id == NULL)
		return 0;
	buf_add_str(&path, to->name);
	name = name_in(to, given != NULL ? given : id);
	fd = new_below(to->fd, name, &path, &in);
	free(name);
	buf_add(&path, "", 1);
	if (fd < 0) {
		rc = trouble(buf_data(&path), fd);
	} else {
		rc = fill_artifact(c, id, fd, buf_data(&path));
		file = strrchr(buf_data(&path), '/') + 1;
		if (rc != 0)
			unlinkat(in, file, 0);
		else if (!to->quiet)
			message_more("wrote %s", buf_data(&path));
		if (rc == 0 && !warned && is_obeyed(file)) {
			warned = true;
			message_more(
			    "warning: other programs obey a file that is "
			    "called %s, and a template wrote this one; look "
			    "at it before you run any there",
			    file);
		}
	}
	if (in >= 0)
		close(in);
	buf_fini(&path);
	return rc;
}

/* ---- the artifacts of a run ---- */

/*
 * Make the folder PATH and its parents, as mkdir -p. Links are followed: the
 * user chose PATH.
 */
static int make_parents(const char *path)
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

int artifact_write_all(struct client *c, struct json_object *view,
		       const char *dir, bool quiet, bool named)
{
	struct json_object *list = json_member(view, "artifacts");
	const char *id = json_member_str(view, "runId");
	size_t n = json_length(list);
	size_t failed = 0;
	struct folder to = {.name = dir,
			    .quiet = quiet,
			    .asks = !named && access(dir, F_OK) == 0};
	int fd, rc = n > 0 ? make_parents(dir) : 0, first = 0;

	if (n == 0)
		return 0;
	fd = rc < 0 ? rc : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		first = trouble(dir, rc < 0 ? rc : -errno);
		failed = n;
	}
	to.fd = fd;
	for (size_t i = 0; fd >= 0 && i < n; i++) {
		rc = save_into(c, json_object_array_get_idx(list, i), &to);
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
	if (failed > 0 && n > 1)
		message_print("%zu of its %zu artifacts were not written",
			      failed, n);
	if (failed > 0 && id != NULL)
		message_more(
		    "  hint: the server keeps them for a while: paddock "
		    "artifact get %s NAME%s",
		    id, server_flags());
	return first;
}

int artifact_write_file(struct client *c, const char *id, const char *path)
{
	struct sink out = {.fd = STDOUT_FILENO};
	bool ours = true; /* the file did not exist before */
	int fd, rc;

	if (strcmp(path, "-") == 0)
		return artifact_fetch(c, id, "stdout", write_piece, &out);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST) {
		ours = false;
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	}
	if (fd < 0)
		return trouble(path, -errno);
	rc = fill_artifact(c, id, fd, path);
	if (rc != 0 && ours)
		unlink(path);
	else if (rc != 0)
		message_more("  so %s is not whole", path);
	return rc;
}
