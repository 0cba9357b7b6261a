/* SPDX-License-Identifier: Apache-2.0 */
/* fds_open.h - counts the descriptors that a process opened while working. */
#ifndef BASE_OS_FDS_OPEN_H
#define BASE_OS_FDS_OPEN_H

#include <stddef.h>

/*
 * Count the open descriptors above stderr that are sockets, pipes, files
 * without a name, or objects of the kernel (epoll(7), signalfd(2) and the
 * like). Named files and folders do not count: logs, locks and cgroups stay
 * open until a process ends.
 */
size_t fds_open(void);

#endif
