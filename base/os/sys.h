/* SPDX-License-Identifier: Apache-2.0 */
/* sys.h - what is done with the results of system calls everywhere. */
#ifndef BASE_OS_SYS_H
#define BASE_OS_SYS_H

#include <errno.h>
#include <unistd.h>

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

#endif
