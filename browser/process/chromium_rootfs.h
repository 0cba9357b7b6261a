/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_rootfs.h - what Chromium sees of the host's files: a root of its own
 * with what a browser needs, each read-only, and memory to write to. Whatever
 * is not in chromium_rootfs.c's tables is not there, wherever people keep it.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_ROOTFS_H
#define BROWSER_PROCESS_CHROMIUM_ROOTFS_H

#include <stddef.h>

#define CHROMIUM_ROOTFS_MEMORY "512m" /* of /tmp, and of /dev/shm */

/*
 * In a new mount namespace, as the root of a new user namespace, in a new pid
 * namespace: make it, so that PROGRAM (absolute, without links) can be run, and
 * go there. 0, or -errno and in *STEP (static) what could not be done.
 */
int chromium_rootfs_enter(const char *program, const char **step);

#endif
