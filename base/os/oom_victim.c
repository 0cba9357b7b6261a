/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oom_victim.c - puts a process first in the kernel's order of processes to end
 * for want of memory, for zygotes, builds and the browser, which run code of
 * others. Callers still have the host's /proc and are dumpable; a failure leaves
 * the place of the parent.
 */
#include "base/os/oom_victim.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FIRST "1000" /* the most that proc(5) has */

int oom_victim(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, FIRST, sizeof(FIRST) - 1) < 0)
		rc = -errno;
	close(fd);
	return rc;
}
