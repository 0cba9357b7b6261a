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
 * Return -errno of a failed write to a socket; -EAGAIN also where the kernel
 * has no memory for the bytes now, which passes as a full socket does.
 */
static inline int sys_send_error(void)
{
	return errno == ENOBUFS || errno == ENOMEM ? -EAGAIN : -errno;
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
