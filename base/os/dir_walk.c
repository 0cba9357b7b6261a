/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dir_walk.c - the files of packages, for the supervisor, which digests them,
 * and the zygote of programs, which copies them. A fault of a package is the
 * author's: the fault is reported, and the package is not used.
 */
#include "base/os/dir_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/nofollow.h"
#include "base/text/errmsg.h"

struct listing {
	struct dir_walk *f;
	char *errmsg;
	size_t size;
	const char *but; /* a name at the top to leave out; or NULL */
};

static int list_dir(struct listing *l, int fd, const char *prefix, int depth);

/* Add PATH to the names; takes PATH. */
static void append_path(struct dir_walk *f, char *path)
{
	if (f->n == f->room) {
		f->room = f->room == 0 ? 64 : 2 * f->room;
		f->names = xrealloc(f->names, f->room * sizeof(f->names[0]));
	}
	f->names[f->n++] = path;
}

static int list_sub(struct listing *l, int at, const char *name, char *path,
		    int depth)
{
	int fd, rc;

	if (depth >= DIR_WALK_DEPTH_MAX) {
		rc = errmsg_set(l->errmsg, l->size,
				"%s: folders lie more than %d deep", path,
				DIR_WALK_DEPTH_MAX);
		goto out;
	}
	fd = nofollow_open_here(at, name, O_RDONLY | O_DIRECTORY);
	if (fd == -EXDEV)
		rc = errmsg_set(
		    l->errmsg, l->size,
		    "%s: something is mounted there; a package has no "
		    "mounts in it",
		    path);
	else if (fd < 0)
		rc = errmsg_of(-fd, l->errmsg, l->size, "%s: %s", path,
			       strerror(-fd));
	else
		rc = list_dir(l, fd, path, depth + 1);
out:
	free(path);
	return rc;
}

static int list_entry(struct listing *l, int at, const char *prefix,
		      const char *name, int depth)
{
	struct stat st;
	char *path;

	if (l->but != NULL && depth == 0 && strcmp(name, l->but) == 0)
		return 0;
	if (++l->f->entries > DIR_WALK_ENTRIES_MAX)
		return errmsg_set(
		    l->errmsg, l->size,
		    "the package has more than %d files and folders",
		    DIR_WALK_ENTRIES_MAX);
	if (strlen(prefix) + 1 + strlen(name) > DIR_WALK_PATH_MAX)
		return errmsg_set(l->errmsg, l->size,
				  "%s: a name in it has more than %d bytes",
				  prefix, DIR_WALK_PATH_MAX);
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errmsg_of(errno, l->errmsg, l->size, "%s: %s", name,
				 strerror(errno));
	path = xasprintf("%s%s%s", prefix, *prefix != '\0' ? "/" : "", name);
	if (S_ISDIR(st.st_mode))
		return list_sub(l, at, name, path, depth);
	append_path(l->f, path);
	if (!S_ISREG(st.st_mode))
		return errmsg_set(l->errmsg, l->size,
				  "%s is neither a plain file nor a folder; a "
				  "package has no links, FIFOs or devices",
				  path);
	l->f->bytes += (uint64_t)st.st_size;
	if ((uint64_t)st.st_size > DIR_WALK_BYTES_MAX ||
	    l->f->bytes > DIR_WALK_BYTES_MAX)
		return errmsg_set(l->errmsg, l->size,
				  "the files of the package have more than %zu "
				  "bytes together",
				  DIR_WALK_BYTES_MAX);
	return 0;
}

/* List the folder FD; takes FD. */
static int list_dir(struct listing *l, int fd, const char *prefix, int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	int rc = 0;

	if (d == NULL) {
		rc = errmsg_of(errno, l->errmsg, l->size, "%s: %s", prefix,
			       strerror(errno));
		close(fd);
		return rc;
	}
	while (rc == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = list_entry(l, dirfd(d), prefix, e->d_name, depth);
	if (rc == 0 && errno != 0)
		rc = errmsg_of(errno, l->errmsg, l->size, "%s: %s", prefix,
			       strerror(errno));
	closedir(d);
	return rc;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int dir_walk_list(int fd, struct dir_walk **f, char *errmsg, size_t size)
{
	return dir_walk_list_but(fd, NULL, f, errmsg, size);
}

int dir_walk_list_but(int fd, const char *but, struct dir_walk **f,
		      char *errmsg, size_t size)
{
	struct listing l = {xcalloc(1, sizeof(**f)), errmsg, size, but};
	int rc, top = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top < 0)
		rc = errmsg_of(errno, errmsg, size,
			       "cannot list the folder: %s", strerror(errno));
	else
		rc = list_dir(&l, top, "", 0);
	if (rc < 0) {
		dir_walk_free(l.f);
		l.f = NULL;
	} else if (l.f->n > 0) {
		qsort(l.f->names, l.f->n, sizeof(l.f->names[0]), compare_paths);
	}
	*f = l.f;
	return rc;
}

void dir_walk_free(struct dir_walk *f)
{
	for (size_t i = 0; f != NULL && i < f->n; i++)
		free(f->names[i]);
	if (f != NULL)
		free(f->names);
	free(f);
}

/*
 * Look at the file before opening, because opening a device has effects; after
 * the open, check that the file is the same. No other mount is entered: a FUSE
 * server, for example, could make the caller wait.
 */
int dir_walk_open_file(int fd, const char *path, struct stat *st)
{
	struct stat seen;
	int file, rc, at = nofollow_open_here(fd, path, O_PATH | O_NOFOLLOW);

	if (at < 0)
		return at;
	rc = fstat(at, &seen) < 0 ? -errno : 0;
	close(at);
	if (rc < 0)
		return rc;
	*st = seen;
	if (!S_ISREG(st->st_mode))
		return -EMEDIUMTYPE;
	file = nofollow_open_here(fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		return file;
	if (fstat(file, st) == 0 && st->st_dev == seen.st_dev &&
	    st->st_ino == seen.st_ino)
		return file;
	close(file);
	return -EAGAIN;
}

size_t dir_walk_file_head(char *out, const char *path, uint64_t size)
{
	size_t n = strlen(path) + 1;

	memcpy(out, path, n);
	for (size_t i = 0; i < 8; i++)
		out[n++] = (char)(size >> (8 * i));
	return n;
}
