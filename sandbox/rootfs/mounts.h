/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts.h - mounts by descriptors: what was opened and checked is what is
 * mounted, wherever its path leads meanwhile. Needs Linux 5.12; an older kernel
 * mounts nothing (-ENOSYS).
 */
#ifndef SANDBOX_ROOTFS_MOUNTS_H
#define SANDBOX_ROOTFS_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Nothing of it can be changed, nor does reading it leave a trace. */
#define MOUNTS_READ_ONLY                                                       \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
/* For a device: read-only means its node, which can still be written to. */
#define MOUNTS_DEVICE                                                          \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

/*
 * Mount what FD, an O_PATH descriptor, is of at TO ("/a/b" below the folder
 * ROOT), with all that is mounted below it, and with FLAGS (of
 * mount_setattr(2); 0: as they are). With flags no access times are recorded,
 * where the mounts allow that to be set. A folder or a file is created for it;
 * no link on the way is followed. 0 or -errno.
 */
int mounts_show(int fd, int root, const char *to, uint64_t flags);

/*
 * What is mounted within the mount at TO below ROOT is read-only, such as the
 * host's binfmt_misc in /proc; TO's own mount stays as it is. 0 or -errno.
 */
int mounts_close_within(int root, const char *to);

/*
 * Create a folder, or an empty file, TO below ROOT: an O_PATH descriptor, or
 * -errno.
 */
int mounts_point(int root, const char *to, mode_t mode);

/*
 * Over the folder that AT is of: the files of the mount at FROM, read-only,
 * each with an inode that nobody else has (overlayfs); EMPTY is an empty
 * folder. Locks on them reach nobody else, and neither do FIFOs. The caller
 * ends up in "/". 0 or -errno: not supported here, or FROM has other mounts in
 * it.
 */
int mounts_layer(const char *from, int at, const char *empty);

#endif
