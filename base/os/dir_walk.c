/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of packages, for who digests them (the supervisor) and who copies
 * them (the zygote of programs). What is wrong with one is its author's fault:
 * it is told, and the package is not used.
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
	struct folder *f;
	char *why;
	size_t size;
};

static int list_dir(struct listing *l, int fd, const char *prefix, int depth);

static int list_file(struct listing *l, char *path, const struct stat *st)
{
	l->f->names[l->f->n++] = path;
	if (!S_ISREG(st->st_mode))
		return why_set(l->why, l->size,
			       "%s is neither a plain file nor a folder; a "
			       "package has no links, FIFOs or devices",
			       path);
	l->f->bytes += (uint64_t)st->st_size;
	if ((uint64_t)st->st_size > FOLDER_BYTES_MAX ||
	    l->f->bytes > FOLDER_BYTES_MAX)
		return why_set(l->why, l->size,
			       "the files of the package have more than %zu "
			       "bytes together",
			       FOLDER_BYTES_MAX);
	return 0;
}

static int list_sub(struct listing *l, int at, const char *name, char *path,
		    int depth)
{
	int fd, rc;

	if (depth >= FOLDER_DEPTH_MAX) {
		rc = why_set(l->why, l->size,
			     "%s: folders lie more than %d deep", path,
			     FOLDER_DEPTH_MAX);
		goto out;
	}
	fd = nolink_open_here(at, name, O_RDONLY | O_DIRECTORY);
	if (fd == -EXDEV)
		rc = why_set(l->why, l->size,
			     "%s: something is mounted there; a package has no "
			     "mounts in it",
			     path);
	else if (fd < 0)
		rc = why_set(l->why, l->size, "%s: %s", path, strerror(-fd));
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

	if (++l->f->entries > FOLDER_ENTRIES_MAX)
		return why_set(l->why, l->size,
			       "the package has more than %d files and folders",
			       FOLDER_ENTRIES_MAX);
	if (strlen(prefix) + 1 + strlen(name) > FOLDER_PATH_MAX)
		return why_set(l->why, l->size,
			       "%s: a name in it has more than %d bytes",
			       prefix, FOLDER_PATH_MAX);
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return why_set(l->why, l->size, "%s: %s", name,
			       strerror(errno));
	path = xasprintf("%s%s%s", prefix, *prefix != '\0' ? "/" : "", name);
	if (S_ISDIR(st.st_mode))
		return list_sub(l, at, name, path, depth);
	return list_file(l, path, &st);
}

/* Takes FD. */
static int list_dir(struct listing *l, int fd, const char *prefix, int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	int rc = 0;

	if (d == NULL) {
		close(fd);
		return why_set(l->why, l->size, "%s: %s", prefix,
			       strerror(errno));
	}
	while (rc == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = list_entry(l, dirfd(d), prefix, e->d_name, depth);
	if (rc == 0 && errno != 0)
		rc =
		    why_set(l->why, l->size, "%s: %s", prefix, strerror(errno));
	closedir(d);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int folder_list(int fd, struct folder **f, char *why, size_t size)
{
	struct listing l = {xcalloc(1, sizeof(**f)), why, size};
	int rc, top = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top < 0)
		rc = why_set(why, size, "cannot list the folder: %s",
			     strerror(errno));
	else
		rc = list_dir(&l, top, "", 0);
	if (rc < 0) {
		folder_free(l.f);
		l.f = NULL;
	} else {
		qsort(l.f->names, l.f->n, sizeof(l.f->names[0]), by_name);
	}
	*f = l.f;
	return rc;
}

void folder_free(struct folder *f)
{
	for (size_t i = 0; f != NULL && i < f->n; i++)
		free(f->names[i]);
	free(f);
}

/*
 * Looked at before it is opened, so that opening a device does nothing; and
 * it is the same file that is opened then. No other mount is entered: it
 * could wait for its user.
 */
int folder_open_file(int fd, const char *path, struct stat *st)
{
	struct file_id seen, got;
	int file, rc, at = nolink_open_here(fd, path, O_PATH | O_NOFOLLOW);

	if (at < 0)
		return at;
	rc = fstat(at, st) < 0 || file_id_of(at, &seen) < 0 ? -errno : 0;
	close(at);
	if (rc == 0 && !S_ISREG(st->st_mode))
		rc = -EMEDIUMTYPE;
	if (rc < 0)
		return rc;
	file = nolink_open_here(fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		return file;
	if (fstat(file, st) == 0 && file_id_of(file, &got) == 0 &&
	    file_id_same(&seen, &got))
		return file;
	close(file);
	return -EAGAIN;
}

size_t folder_file_head(char *out, const char *path, uint64_t size)
{
	size_t n = strlen(path) + 1;

	memcpy(out, path, n);
	for (size_t i = 0; i < 8; i++)
		out[n++] = (char)(size >> (8 * i));
	return n;
}
