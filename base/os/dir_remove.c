/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dir_remove.c - removes folders by descriptors, for the command's builds: a
 * link planted in a folder never leads the removal out. The first entry that
 * cannot be removed ends the removal with -errno.
 */
#include "base/os/dir_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/os/nofollow.h"
#include "base/os/sys.h"

#define DEPTH_MAX 128

static int remove_in(int at, const char *name, int depth)
{
	struct dirent *e;
	int fd, rc = 0;
	DIR *d;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth > DEPTH_MAX)
		return -ELOOP;
	fd = nofollow_open_here(at, name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (d == NULL) {
		close(fd);
		return -errno;
	}
	while (rc == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = remove_in(dirfd(d), e->d_name, depth + 1);
	closedir(d);
	return rc != 0 ? rc : sys_result(unlinkat(at, name, AT_REMOVEDIR));
}

int dir_remove(int at, const char *name)
{
	return remove_in(at, name, 0);
}
