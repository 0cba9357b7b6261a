/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.h - mounts by descriptors: the opened and checked file is mounted,
 * even if the path leads elsewhere meanwhile. Requires Linux 5.12; an older
 * kernel mounts nothing (-ENOSYS).
 */
#ifndef SANDBOX_ROOTFS_MOUNTS_H
#define SANDBOX_ROOTFS_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* A read-only mount; reads leave no access times. */
#define MOUNTS_READ_ONLY                                                       \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
/* For a device: only the device node is read-only; the device still accepts writes. */
#define MOUNTS_DEVICE                                                          \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

/*
 * Mount the file or folder behind FD, an O_PATH descriptor, at TO ("/a/b" below
 * the folder ROOT), with all mounts below, and with FLAGS (of mount_setattr(2);
 * 0: unchanged). With flags, no access times are recorded where the original
 * mount allows the change. A missing folder or file TO is created; no symbolic
 * link on the way is followed. 0 or -errno.
 */
int mounts_show(int fd, int root, const char *to, uint64_t flags);

/*
 * Make mounts inside the mount at TO below ROOT read-only, for example the
 * host's binfmt_misc in /proc; the mount at TO itself stays unchanged. 0 or
 * -errno.
 */
int mounts_close_within(int root, const char *to);

/*
 * Create a folder, or an empty file, TO below ROOT. Returns an O_PATH
 * descriptor, or -errno.
 */
int mounts_point(int root, const char *to, mode_t mode);

/*
 * Mount over the folder AT: the files of the mount at FROM, read-only, each with a
 * separate inode (overlayfs); EMPTY is an empty folder. Locks and FIFOs on these inodes
 * reach no other run. The working folder of the caller becomes "/". 0 or -errno: overlays
 * are unsupported here, or FROM contains other mounts.
 */
int mounts_layer(const char *from, int at, const char *empty);

#endif
