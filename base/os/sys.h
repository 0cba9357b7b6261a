/* SPDX-License-Identifier: Apache-2.0 */
/* sys.h - common helpers for results of system calls. */
#ifndef BASE_OS_SYS_H
#define BASE_OS_SYS_H

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* the kernel gives less to an unprivileged process */
#define SYS_ROOMY_BYTES (1 << 20)

/* Return 0, or -errno when RC, a system call's result, is negative. */
static inline int sys_result(long rc)
{
	return rc < 0 ? -errno : 0;
}

/*
 * Return -errno of a failed write to a socket; -ENOBUFS also for ENOMEM: the
 * kernel has no memory for the bytes now, which passes. The socket may take
 * bytes meanwhile by poll(2), so a pause comes before the next write:
 * base/send_again.h.
 */
static inline int sys_send_error(void)
{
	return errno == ENOMEM ? -ENOBUFS : -errno;
}

/* Close FD unless it is -1. */
static inline void sys_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Close *FD as sys_close() does, and set it to -1. */
static inline void sys_drop(int *fd)
{
	sys_close(*fd);
	*fd = -1;
}

/*
 * Enlarge the send buffer when FD is a socket, before sending a file: both
 * sides then wake less often.
 */
static inline void sys_roomy(int fd)
{
	const int bytes = SYS_ROOMY_BYTES;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

#endif
