/* SPDX-License-Identifier: Apache-2.0 */
/*
 * empty_root.c - the empty root folder of Lua workers. sandbox.c calls
 * empty_root_enter() in the zygote. Without a mount namespace the file falls
 * back to chroot(2); when chroot(2) fails as well, the layer is reported as
 * missing and the rest of the sandbox is built all the same.
 */
#include "sandbox/empty_root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define ROOT_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC)

/* The inode of the root folder alone, so that no file can be created. */
#define ROOT_OPTIONS "size=4k,nr_inodes=1,mode=0555"

/* Mount points, of which every system has at least one. The mount hides the content. */
static const char *const anchors[] = {"/tmp", "/run", "/proc", "/dev", "/var"};

/* Places where a folder can be created and deleted again. */
static const char *const scratches[] = {
    "/run/paddock-XXXXXX", "/tmp/paddock-XXXXXX", "/dev/shm/paddock-XXXXXX"};

static int mount_empty(const char **where)
{
	int rc = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(anchors) && rc == -ENOENT; i++) {
		*where = anchors[i];
		rc = 0;
		if (mount("paddock", anchors[i], "tmpfs", ROOT_FLAGS,
			  ROOT_OPTIONS) != 0)
			rc = -errno;
	}
	return rc;
}

/*
 * pivot_root(2) leaves the old root mounted on top of the new root: detach the old root.
 */
static int pivot(void)
{
	if (syscall(SYS_pivot_root, ".", ".") == 0)
		return umount2(".", MNT_DETACH) == 0 ? 0 : -errno;
	if (errno != EINVAL)
		return -errno;
	/*
	 * an initramfs cannot be the old root of pivot_root(2), but a mount can cover it
	 */
	if (mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0)
		return -errno;
	return 0;
}

static int enter_tmpfs(void)
{
	const char *where = NULL;
	int rc;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return -errno;
	rc = mount_empty(&where);
	if (rc != 0)
		return rc;
	if (chdir(where) != 0)
		return -errno;
	rc = pivot();
	if (rc != 0)
		return rc;
	if (chdir("/") != 0 ||
	    mount(NULL, "/", NULL,
		  MS_REMOUNT | MS_BIND | MS_RDONLY | ROOT_FLAGS, NULL) != 0)
		return -errno;
	return 0;
}

/* A deleted folder is empty, and no file can be created in it. */
static int enter_deleted(void)
{
	int rc = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(scratches) && rc != 0; i++) {
		char path[32];

		/* strcpy() fits: PATH is as long as the longest of scratches */
		strcpy(path, scratches[i]);
		if (mkdtemp(path) == NULL) {
			rc = -errno;
			continue;
		}
		/*
		 * searchable by each uid, so that the self-test can see that
		 * the folder is empty
		 */
		rc = chmod(path, 0555) == 0 && chdir(path) == 0 ? 0 : -errno;
		rmdir(path);
		if (rc == 0 && (chroot(".") != 0 || chdir("/") != 0))
			rc = -errno;
	}
	return rc;
}

int empty_root_enter(struct sandbox *sb)
{
	int rc = -EPERM;

	if (sb->err[SANDBOX_MNTNS] == 0)
		rc = enter_tmpfs();
	if (rc != 0)
		rc = enter_deleted();
	sb->err[SANDBOX_ROOT] = rc;
	return rc;
}
