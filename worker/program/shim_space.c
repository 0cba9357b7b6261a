/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_space.c - are the program's files out of room: blocks or inodes of
 * /work, /tmp or /dev/shm? shim_exit.c and shim_output.c ask, to name the limit
 * that a failure came from. What cannot be looked at counts as not full.
 */
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "worker/program/shim_private.h"

static const char *const spaces[] = {ROOTFS_WORK, "/tmp", "/dev/shm"};

static bool look(int fd, struct shim_space *r)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	if (fs.f_ffree == 0) {
		r->limit = "files";
		r->used = fs.f_files;
		return true;
	}
	r->limit = "memory";
	r->used = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
	return fs.f_bfree == 0;
}

bool shim_full(struct shim_space *r)
{
	bool full = false;

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]) && !full;
	     i++) {
		int fd = open(spaces[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		r->path = spaces[i];
		full = fd >= 0 && look(fd, r);
		if (fd >= 0)
			close(fd);
	}
	return full;
}
