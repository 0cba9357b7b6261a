/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.h - mounts by descriptors: what was opened and looked at is what is
 * shown, whatever its path leads to meanwhile. Needs Linux 5.12; an older
 * kernel has nothing shown (-ENOSYS).
 */
#ifndef SANDBOX_ROOTFS_MOUNTS_H
#define SANDBOX_ROOTFS_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Nothing of it is changed by who sees it, nor by its being read. */
#define MOUNTS_READ_ONLY                                                       \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
/* The same of a device, which can be written to all the same. */
#define MOUNTS_DEVICE                                                          \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

/*
 * Show what FD, an O_PATH descriptor, is of at TO ("/a/b" below the folder
 * ROOT), with all that is mounted below it, and with FLAGS (of
 * mount_setattr(2); 0: as they are). With flags nobody's reading is seen by
 * times, where who made the mounts lets us say so. A folder or a file is made
 * for it, as FD is; no link on the way is followed. 0 or -errno.
 */
int mounts_show(int fd, int root, const char *to, uint64_t flags);

/* A folder, or an empty file, TO below ROOT: an O_PATH descriptor, or -errno. */
int mounts_point(int root, const char *to, mode_t mode);

/*
 * Over the folder that AT is of: the files of the mount at FROM, read-only,
 * each with an inode that nobody else has (overlayfs); EMPTY is a folder
 * without any. What is done to the inode, locks above all, is done to nobody
 * else's, and FIFOs lead to nobody. The caller ends up in "/". 0 or -errno:
 * not here, or not of what has other mounts in it.
 */
int mounts_layer(const char *from, int at, const char *empty);

#endif
