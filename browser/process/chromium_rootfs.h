/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_rootfs.h - what Chromium sees of the host's files: a root of its own
 * with what a browser needs, read-only, and memory to write to. What is not in
 * its tables is not there.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_ROOTFS_H
#define BROWSER_PROCESS_CHROMIUM_ROOTFS_H

#include <stddef.h>

#define CHROMIUM_ROOTFS_MEMORY "512m" /* of /tmp, and of /dev/shm */

/*
 * In a new mount namespace, as the root of a new user namespace, in a new pid
 * namespace: make that root, so that PROGRAM (absolute, without links) can be
 * executed, and enter it. 0, or -errno and in *STEP (static) what failed.
 */
int chromium_rootfs_enter(const char *program, const char **step);

#endif
