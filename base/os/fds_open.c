/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fds_open.c - counts open descriptors of temporary objects, for main.c of the
 * supervisor, which compares the count at the end with the start's. Each number
 * is tried, since /proc/self/fd is closed to a process without root. Cannot
 * fail.
 */
#include "base/os/fds_open.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#define FDS_LOOKED_AT 4096 /* a leak begins with the lowest free number */

static bool is_passing(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return st.st_nlink == 0 && (fstatfs(fd, &fs) != 0 ||
					    (fs.f_type != CGROUP_SUPER_MAGIC &&
					     fs.f_type != CGROUP2_SUPER_MAGIC));
	case S_IFDIR:
	case S_IFCHR:
		return false;
	default:
		return true;
	}
}

size_t fds_open(void)
{
	size_t n = 0;

	for (int fd = STDERR_FILENO + 1; fd < FDS_LOOKED_AT; fd++)
		n += is_passing(fd);
	return n;
}
