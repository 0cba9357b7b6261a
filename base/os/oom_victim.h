/* SPDX-License-Identifier: Apache-2.0 */
/* oom_victim.h - processes for the kernel to end first for want of memory. */
#ifndef PADDOCK_BASE_OS_OOM_VICTIM_H
#define PADDOCK_BASE_OS_OOM_VICTIM_H

/*
 * Have the kernel end the calling process and later children before the server
 * and other programs of the machine. 0 or -errno; without /proc nothing changes.
 */
int oom_victim(void);

#endif
