/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_fixture.c - see clock_fixture.h. The function stands in for the C library's, also
 * where that is called by a shared library.
 */
#include "tests/unit/base/clock_fixture.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t skipped_ms;

void clock_skip(int64_t ms)
{
	skipped_ms += ms;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, id, ts);

	if (rc == 0 && id != CLOCK_THREAD_CPUTIME_ID &&
	    id != CLOCK_PROCESS_CPUTIME_ID) {
		ts->tv_sec += skipped_ms / 1000;
		ts->tv_nsec += skipped_ms % 1000 * 1000000;
		ts->tv_sec += ts->tv_nsec / 1000000000;
		ts->tv_nsec %= 1000000000;
	}
	return rc;
}
