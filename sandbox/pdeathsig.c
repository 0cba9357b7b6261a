/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/pdeathsig.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

int pdeathsig_set(int fd)
{
	struct pollfd p = {.fd = fd};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -errno;
	/* A death before the first prctl is one that the socket shows. */
	if (poll(&p, 1, 0) < 0)
		return -errno;
	return (p.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ? -ESRCH : 0;
}
