/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_core.c - the limit of core files, for code that starts processes which may
 * crash: zygotes, builds, the browser, and privsep's children. A limit of 0 set
 * before stays; health.c reports it to the operator.
 */
#include "base/os/no_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

int no_core(void)
{
	const struct rlimit one = {NO_CORE_BYTES, NO_CORE_BYTES}, none = {0, 0};

	if (setrlimit(RLIMIT_CORE, &one) == 0)
		return 0;
	/* the least: no core file */
	return errno == EPERM && setrlimit(RLIMIT_CORE, &none) == 0 ? 0
								    : -errno;
}

/* Return the first character of core_pattern. */
static char pattern(void)
{
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	char first = '\0';

	if (fd < 0)
		return first;
	if (read(fd, &first, 1) < 1)
		first = '\0';
	close(fd);
	return first;
}

const char *no_core_why(void)
{
	struct rlimit now;

	switch (pattern()) {
	case '@':
		return "the system's core_pattern is a socket, so the memory "
		       "of a run that crashes goes to whoever listens there";
	case '|':
		return getrlimit(RLIMIT_CORE, &now) == 0 &&
			       now.rlim_max < NO_CORE_BYTES
			   ? "the system's core_pattern is a program, "
			     "and the limit of cores is 0, by which it is "
			     "started with the memory of a run that "
			     "crashes"
			   : NULL;
	default:
		return NULL;
	}
}
