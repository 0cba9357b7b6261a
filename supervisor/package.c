#include "supervisor/package.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/why.h"

int package_open(const char *dir, char *why, size_t size)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		why_set(why, size, "cannot open the folder: %s",
			strerror(errno));
	return fd < 0 ? -EINVAL : fd;
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

/*
 * The folder that holds the last part of PATH, which *NAME then is. A new
 * descriptor, or -errno.
 */
static int open_parent(int fd, const char *path, const char **name)
{
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	while (at >= 0 && (slash = strchr(path, '/')) != NULL) {
		char part[NAME_MAX + 1];
		size_t n = (size_t)(slash - path);
		int saved, next = -1;

		if (n < sizeof(part)) {
			memcpy(part, path, n);
			part[n] = '\0';
			next = openat(at, part,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					  O_CLOEXEC);
		} else {
			errno = ENAMETOOLONG;
		}
		saved = errno;
		close(at);
		errno = saved;
		at = next;
		path = slash + 1;
	}
	*name = path;
	return at < 0 ? -errno : at;
}

/*
 * Looked at before it is opened, so that opening a device does nothing; and
 * again afterwards, for it may have changed in between.
 */
static int open_regular(int at, const char *name, struct stat *st)
{
	int fd;

	if (fstatat(at, name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EMEDIUMTYPE;
	fd = openat(at, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, st) < 0 || !S_ISREG(st->st_mode)) {
		close(fd);
		return -EMEDIUMTYPE;
	}
	return fd;
}

int package_open_file(int fd, const char *path, struct stat *st, char *why,
		      size_t size)
{
	const char *name;
	int file, at = open_parent(fd, path, &name);

	if (at == -ENOTDIR || at == -ELOOP)
		return why_set(why, size,
			       "%s: on the way there is something else than a "
			       "folder (symbolic links are not followed)",
			       path);
	if (at < 0)
		return why_set(why, size, "%s: %s", path, strerror(-at));
	file = open_regular(at, name, st);
	close(at);
	if (file == -EMEDIUMTYPE)
		return why_set(why, size, "%s is %s, but must be a plain file",
			       path, kind(st->st_mode));
	if (file < 0)
		return why_set(why, size, "%s: %s", path, strerror(-file));
	return file;
}

/* Reads until BUF is full or the file ends. How much, or -errno. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		if (n > 0)
			len += (size_t)n;
	}
	return (ssize_t)len;
}

int package_read(int fd, const char *path, char **data, size_t *len, char *why,
		 size_t size)
{
	struct stat st = {0};
	ssize_t n = 0;
	int file = package_open_file(fd, path, &st, why, size);

	*data = NULL;
	if (file < 0)
		return file;
	if ((uintmax_t)st.st_size > PACKAGE_FILE_MAX) {
		close(file);
		return why_set(why, size,
			       "%s has %jd bytes, but at most %zu are read",
			       path, (intmax_t)st.st_size, PACKAGE_FILE_MAX);
	}
	*data = xcalloc(1, (size_t)st.st_size + 1);
	n = read_full(file, *data, (size_t)st.st_size);
	close(file);
	if (n < 0) {
		free(*data);
		*data = NULL;
		return why_set(why, size, "%s: %s", path, strerror((int)-n));
	}
	*len = (size_t)n;
	return 0;
}
