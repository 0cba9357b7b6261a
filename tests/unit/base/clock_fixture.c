/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_fixture.c - see clock_fixture.h. The function stands in for the C library's, also
 * where that is called by a shared library.
 */
#include "tests/unit/base/clock_fixture.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCKS 16 /* Linux has fewer numbers of clocks */

static int64_t skipped_ms;
static bool stopped;
static struct timespec then[CLOCKS]; /* when the clocks were stopped */

void clock_skip(int64_t ms)
{
	skipped_ms += ms;
}

void clock_stop(bool on)
{
	for (clockid_t id = 0; on && id < CLOCKS; id++)
		(void)syscall(SYS_clock_gettime, id, &then[id]);
	stopped = on;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, id, ts);

	if (rc == 0 && id != CLOCK_THREAD_CPUTIME_ID &&
	    id != CLOCK_PROCESS_CPUTIME_ID) {
		if (stopped && id >= 0 && id < CLOCKS)
			*ts = then[id];
		ts->tv_sec += skipped_ms / 1000;
		ts->tv_nsec += skipped_ms % 1000 * 1000000;
		ts->tv_sec += ts->tv_nsec / 1000000000;
		ts->tv_nsec %= 1000000000;
	}
	return rc;
}
