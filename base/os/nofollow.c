/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nofollow.c - opens paths without links, for code with a check before the use
 * of a path: the packages of templates, their granted paths, and the sandbox.
 * Failures are -errno; there is no weaker fallback.
 */
#include "base/os/nofollow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* the kernel gives up while other processes rename on the path */
#define TRIES 16

static int open_as(int at, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
			       .resolve = resolve | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};
	long fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

int nofollow_open(int at, const char *path, int flags)
{
	if (at == AT_FDCWD)
		return *path == '/' ? open_as(at, path, flags, 0) : -EINVAL;
	return open_as(at, path, flags, RESOLVE_BENEATH);
}

int nofollow_open_here(int at, const char *path, int flags)
{
	return open_as(at, path, flags, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
}

size_t nofollow_link_len(const char *path)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	struct stat st;

	for (size_t n = 1; n <= len && n < sizeof(part); n++) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		memcpy(part, path, n);
		part[n] = '\0';
		if (lstat(part, &st) != 0)
			return 0;
		if (S_ISLNK(st.st_mode))
			return n;
	}
	return 0;
}

int file_id_of(int fd, struct file_id *id)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	*id = (struct file_id){.dev = st.st_dev, .ino = st.st_ino};
	return 0;
}

bool file_id_same(const struct file_id *a, const struct file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

bool nofollow_is_plain(const char *path)
{
	for (const char *part = path;; part++) {
		size_t n = strcspn(part, "/");

		if (n == 0 || (n == 1 && part[0] == '.') ||
		    (n == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)part[i] < ' ' || part[i] == 0x7F)
				return false;
		part += n;
		if (*part == '\0')
			return true;
	}
}
