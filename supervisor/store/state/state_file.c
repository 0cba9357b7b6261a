/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_file.c - names, makes, syncs and removes files of the state directory,
 * for the store's thread and recovery. 0 or -errno; after 0 the name is on the
 * disk, too.
 */
#include "supervisor/store/state/state_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int state_file_sync(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) != 0)
		rc = -errno;
	close(fd);
	return rc;
}

static int is_dir(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int state_file_folder_ok(const char *path)
{
	int rc = is_dir(path);

	if (rc == 0 && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0)
		rc = -errno;
	return rc;
}

/* Make one folder, whose name is on the disk when this returns 0. */
static int make_dir(const char *dir)
{
	const char *slash;
	char *parent;
	int rc;

	if (mkdir(dir, 0700) != 0)
		return errno == EEXIST ? is_dir(dir) : -errno;
	slash = strrchr(dir, '/');
	if (slash == NULL)
		parent = xstrdup(".");
	else
		parent =
		    xstrndup(dir, slash == dir ? 1 : (size_t)(slash - dir));
	/* a folder of another user's may be closed to reading: then do
	   without */
	rc = state_file_sync(parent);
	free(parent);
	if (rc == -EACCES)
		return 0;
	if (rc != 0)
		rmdir(dir); /* or the next try would take the folder for safe */
	return rc;
}

int state_file_mkdirs(const char *dir)
{
	char *path, *p;
	int rc = is_dir(dir);

	if (rc != -ENOENT)
		return rc;
	path = xstrdup(dir);
	for (p = path + 1, rc = 0; rc == 0 && *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		rc = is_dir(path);
		if (rc == -ENOENT)
			rc = make_dir(path);
		*p = '/';
	}
	if (rc == 0)
		rc = make_dir(path);
	free(path);
	return rc;
}

bool state_file_name_ok(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

char *state_file_artifact(const char *state, const char *run, const char *art)
{
	return xasprintf("%s/" STORE_ARTIFACTS_DIR "/%s/%s", state, run, art);
}

static char *run_dir(const char *state, const char *run)
{
	return xasprintf("%s/" STORE_ARTIFACTS_DIR "/%s", state, run);
}

static int move(const char *from, const char *to)
{
	return rename(from, to) == 0 ? 0 : -errno;
}

int state_file_place(const char *state, const char *run, const char *art,
		     const char *tmp)
{
	char *dir = run_dir(state, run);
	char *path = state_file_artifact(state, run, art);
	int rc = state_file_mkdirs(dir);

	if (rc == 0)
		rc = move(tmp, path);
	if (rc == 0) {
		rc = state_file_sync(dir);
		if (rc != 0)
			move(path, tmp);
	}
	free(path);
	free(dir);
	return rc;
}

int state_file_unplace(const char *state, const char *run, const char *art,
		       const char *tmp)
{
	char *path = state_file_artifact(state, run, art);
	int rc = move(path, tmp);

	free(path);
	state_file_remove_dir(state, run);
	return rc;
}

int state_file_may_remove(const char *state, const char *run, const char *art)
{
	char *path = state_file_artifact(state, run, art), *dir;
	struct stat st;
	int rc = lstat(path, &st) == 0 ? 0 : -errno;

	free(path);
	if (rc == -ENOENT)
		return 0; /* nothing is left to do */
	if (rc != 0)
		return rc;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	dir = run_dir(state, run);
	rc = state_file_folder_ok(dir);
	free(dir);
	return rc;
}

int state_file_hold(const char *state, const char *run, const char *art)
{
	char *path = state_file_artifact(state, run, art);
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	free(path);
	return fd < 0 ? -errno : fd;
}

int state_file_remove(const char *state, const char *run, const char *art)
{
	char *path = state_file_artifact(state, run, art);
	int rc = unlink(path) == 0 || errno == ENOENT ? 0 : -errno;

	free(path);
	if (rc == 0)
		state_file_remove_dir(state, run);
	return rc;
}

void state_file_remove_dir(const char *state, const char *run)
{
	char *dir = run_dir(state, run);

	rmdir(dir); /* keeps a folder with files, as intended */
	free(dir);
}

int state_file_read(const char *path, int64_t offset, void *to, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t done = 0;
	ssize_t n = 1;
	int rc = 0;

	if (fd < 0)
		return -errno;
	while (rc == 0 && n != 0 && done < *len) {
		n = pread(fd, (char *)to + done, *len - done,
			  offset + (int64_t)done);
		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			rc = -errno;
	}
	close(fd);
	*len = done;
	return rc;
}

int state_file_each(const char *dir, int (*each)(void *arg, const char *name),
		    void *arg)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (d == NULL)
		return errno == ENOENT ? 0 : -errno;
	for (errno = 0; rc == 0 && (e = readdir(d)) != NULL; errno = 0)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = each(arg, e->d_name);
	if (rc == 0 && errno != 0)
		rc = -errno;
	closedir(d);
	return rc;
}
