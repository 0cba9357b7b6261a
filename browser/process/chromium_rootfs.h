/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_rootfs.h - Chromium's view of the host's files: a root of its own
 * with the files a browser needs, read-only, and memory to write to. Paths
 * outside its tables are missing.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_ROOTFS_H
#define BROWSER_PROCESS_CHROMIUM_ROOTFS_H

#include <stddef.h>

#define CHROMIUM_ROOTFS_MEMORY "512m" /* size of /tmp, and of /dev/shm */

/*
 * Make the root and enter it, so that PROGRAM (absolute, without links) can be
 * executed. To be called in a new mount namespace and a new pid namespace, as
 * the root of a new user namespace. 0, or -errno with the failed step in *STEP
 * (static).
 */
int chromium_rootfs_enter(const char *program, const char **step);

#endif
