/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.c - bind mounts and overlays by descriptors, for the zygote of
 * programs and for workers. A failure is -errno; the caller leaves the path out
 * or builds no sandbox at all.
 */
#include "sandbox/rootfs/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/nofollow.h"
#include "base/os/sys.h"

static int make_mount_file(int at, const char *name)
{
	int fd = openat(
	    at, name, O_CREAT | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	    0644);

	if (fd < 0)
		return -errno;
	close(fd);
	return nofollow_open(at, name, O_PATH);
}

int mounts_point(int root, const char *to, mode_t mode)
{
	char path[PATH_MAX], *at = path, *name;
	int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s", to + strspn(to, "/"));
	while (fd >= 0 && (name = strsep(&at, "/")) != NULL) {
		int next;

		if (at == NULL && !S_ISDIR(mode))
			next = make_mount_file(fd, name);
		else if (mkdirat(fd, name, 0755) != 0 && errno != EEXIST)
			next = -errno;
		else
			next = nofollow_open(fd, name, O_PATH | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	return fd;
}

/* The creator of a mount may have locked the mode of access times, so retry without. */
static int set_flags(int fd, uint64_t flags)
{
	struct mount_attr attr = {.attr_set = flags | MOUNT_ATTR_NOATIME,
				  .attr_clr = MOUNT_ATTR__ATIME};
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		rc = sys_result(syscall(SYS_mount_setattr, fd, "",
					AT_EMPTY_PATH | AT_RECURSIVE, &attr,
					sizeof(attr)));
		if (rc != -EPERM)
			break;
		attr = (struct mount_attr){.attr_set = flags};
	}
	return rc;
}

/* Return a detached copy of the mount at FD with all mounts below. */
static int clone_mount(int fd, uint64_t flags)
{
	int rc, mount = (int)syscall(SYS_open_tree, fd, "",
				     AT_EMPTY_PATH | AT_RECURSIVE |
					 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (mount < 0)
		return -errno;
	rc = flags != 0 ? set_flags(mount, flags) : 0;
	if (rc == 0)
		return mount;
	close(mount);
	return rc;
}

int mounts_show(int fd, int root, const char *to, uint64_t flags)
{
	int mount, point, rc;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	mount = clone_mount(fd, flags);
	if (mount < 0)
		return mount;
	point = mounts_point(root, to, st.st_mode);
	rc = point < 0
		 ? point
		 : sys_result(syscall(SYS_move_mount, mount, "", point, "",
				      MOVE_MOUNT_F_EMPTY_PATH |
					  MOVE_MOUNT_T_EMPTY_PATH));
	sys_close(point);
	close(mount);
	return rc;
}

int mounts_close_within(int root, const char *to)
{
	struct mount_attr all = {.attr_set = MOUNT_ATTR_RDONLY},
			  own = {.attr_clr = MOUNT_ATTR_RDONLY};
	struct statvfs fs;
	int fd = mounts_point(root, to, S_IFDIR), rc;

	if (fd < 0)
		return fd;
	rc = sys_result(fstatvfs(fd, &fs));
	if (rc == 0)
		rc = sys_result(syscall(SYS_mount_setattr, fd, "",
					AT_EMPTY_PATH | AT_RECURSIVE, &all,
					sizeof(all)));
	if (rc == 0 && (fs.f_flag & ST_RDONLY) == 0)
		rc = sys_result(syscall(SYS_mount_setattr, fd, "",
					AT_EMPTY_PATH, &own, sizeof(own)));
	close(fd);
	return rc;
}

int mounts_layer(const char *from, int at, const char *empty)
{
	char options[256];
	int rc;

	/* turn off features that extended attributes of files in FROM could control */
	snprintf(options, sizeof(options),
		 "lowerdir=%s:%s,redirect_dir=nofollow,metacopy=off,index=off,"
		 "nfs_export=off,xino=off",
		 from, empty);
	rc = fchdir(at) == 0 &&
		     mount("paddock", ".", "overlay",
			   MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOATIME,
			   options) == 0
		 ? 0
		 : -errno;
	return chdir("/") == 0 ? rc : -errno;
}
