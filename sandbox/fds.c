/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fds.c - closes descriptors, for zygotes, workers, programs and for the
 * self-test, which checks the open descriptors. When a descriptor cannot be
 * closed, the functions return -errno and the worker exits.
 */
#include "sandbox/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/sandbox_types.h"

#define LOOKED_AT 4096 /* number of descriptors that fds_are_closed() checks */

int fds_close_from(int first)
{
	struct rlimit lim;

	if (close_range((unsigned int)first, ~0u, 0) == 0)
		return 0;
	/* Linux before 5.9 has no close_range(2) */
	if (errno != ENOSYS || getrlimit(RLIMIT_NOFILE, &lim) != 0)
		return -errno;
	for (rlim_t fd = (rlim_t)first; fd < lim.rlim_max && fd < INT32_MAX;
	     fd++)
		close((int)fd);
	return 0;
}

int fds_worker(int run_fd)
{
	if (run_fd != SANDBOX_RUN_FD &&
	    dup2(run_fd, SANDBOX_RUN_FD) != SANDBOX_RUN_FD)
		return -errno;
	return fds_close_from(SANDBOX_RUN_FD + 1);
}

int fds_shim(int run_fd, int *hold_fd)
{
	const int at = SANDBOX_RUN_FD + 1;

	if (*hold_fd <= 0)
		return fds_worker(run_fd);
	if (dup2(run_fd, SANDBOX_RUN_FD) != SANDBOX_RUN_FD ||
	    dup2(*hold_fd, at) != at)
		return -errno;
	*hold_fd = at;
	return fds_close_from(at + 1);
}

bool fds_are_closed(void)
{
	struct stat st;

	for (int fd = 0; fd < SANDBOX_RUN_FD; fd++)
		if (fstat(fd, &st) != 0 || !S_ISCHR(st.st_mode) ||
		    st.st_rdev != makedev(1, 3)) /* /dev/null */
			return false;
	if (fstat(SANDBOX_RUN_FD, &st) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	for (int fd = SANDBOX_RUN_FD + 1; fd < LOOKED_AT; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return false;
	return true;
}
