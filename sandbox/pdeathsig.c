/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdeathsig.c - for zygotes and workers, after their last change of ids, which
 * would undo it. A parent that is dead already is -ESRCH, and the caller exits.
 */
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
	/* A parent that died before prctl(2) closed its end of the socket. */
	if (poll(&p, 1, 0) < 0)
		return -errno;
	return (p.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ? -ESRCH : 0;
}
