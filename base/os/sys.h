/* SPDX-License-Identifier: Apache-2.0 */
/* sys.h - what is done with the results of system calls everywhere. */
#ifndef BASE_OS_SYS_H
#define BASE_OS_SYS_H

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define SYS_ROOMY_BYTES (1 << 20) /* the kernel gives less to whom it may not */

/* What a call gave that fails with -1: 0 or -errno. */
static inline int sys_result(long rc)
{
	return rc < 0 ? -errno : 0;
}

/* FD may be -1: there is none. */
static inline void sys_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* The same, and *FD is -1. */
static inline void sys_drop(int *fd)
{
	sys_close(*fd);
	*fd = -1;
}

/*
 * A file is to be sent by FD: if that is a socket it holds more from now on, so
 * that both sides are woken less often.
 */
static inline void sys_roomy(int fd)
{
	const int bytes = SYS_ROOMY_BYTES;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

#endif
