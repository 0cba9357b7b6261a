/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package.c - opens and reads the files of a package through no link, without
 * waiting and within bounds, for modules which load or check templates. A path
 * of no plain file, too long or gone is -EINVAL with a sentence naming the path.
 */
#include "supervisor/packages/package/package.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/dir_walk.h"
#include "base/mem.h"
#include "base/os/nofollow.h"
#include "base/text/errmsg.h"

int package_open(const char *dir, char *errmsg, size_t size)
{
	int fd = nofollow_open(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);

	if (fd == -ENOSYS)
		return errmsg_set(
		    errmsg, size,
		    "files cannot be opened here without following "
		    "links: openat2(2) is missing, which Linux has "
		    "since 5.6, or forbidden by a seccomp filter "
		    "around paddockd, such as RestrictSUIDSGID= of "
		    "a systemd unit or a container's profile");
	if (fd < 0)
		return errmsg_of(
		    -fd, errmsg, size, "cannot open the folder: %s",
		    fd == -ELOOP ? "a part of its path is a symbolic link"
				 : strerror(-fd));
	return fd;
}

static const char *kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a symbolic link";
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

int package_open_file(int fd, const char *path, struct stat *st, char *errmsg,
		      size_t size)
{
	int file = dir_walk_open_file(fd, path, st);

	switch (file) {
	case -ENOTDIR:
	case -ELOOP:
		return errmsg_set(
		    errmsg, size,
		    "%s: on the way there is something else than a "
		    "folder (symbolic links are not followed)",
		    path);
	case -EXDEV:
		return errmsg_set(
		    errmsg, size,
		    "%s is mounted there, and only what lies in the "
		    "package is read",
		    path);
	case -EMEDIUMTYPE:
		return errmsg_set(errmsg, size,
				  "%s is %s, but must be a plain file", path,
				  kind(st->st_mode));
	case -EAGAIN:
		return errmsg_set(errmsg, size,
				  "%s changed while it was opened", path);
	default:
		return file < 0 ? errmsg_of(-file, errmsg, size, "%s: %s", path,
					    strerror(-file))
				: file;
	}
}

int package_read(int fd, const char *path, char **data, size_t *len,
		 char *errmsg, size_t size)
{
	struct stat st = {0};
	ssize_t n;
	int rc, file = package_open_file(fd, path, &st, errmsg, size);

	*data = NULL;
	if (file < 0)
		return file;
	if ((uintmax_t)st.st_size > PACKAGE_FILE_MAX) {
		close(file);
		return errmsg_set(errmsg, size,
				  "%s has %jd bytes, but at most %zu are read",
				  path, (intmax_t)st.st_size, PACKAGE_FILE_MAX);
	}
	*data = xcalloc(1, (size_t)st.st_size + 1);
	*len = 0;
	do {
		n = read(file, *data + *len, (size_t)st.st_size - *len);
		*len += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && *len < (size_t)st.st_size) ||
		 (n < 0 && errno == EINTR));
	rc = n < 0 ? errno : 0;
	close(file);
	if (rc == 0)
		return 0;
	free(*data);
	*data = NULL;
	return errmsg_of(rc, errmsg, size, "%s: %s", path, strerror(rc));
}
