/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - preloaded into paddockd: shifts the wall clock by PADDOCK_CLOCK_AHEAD
 * seconds. Children of the process have the true time, since the library acts only in
 * the process that was started with the library.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead;

__attribute__((constructor)) static void begin(void)
{
	const char *s = getenv("PADDOCK_CLOCK_AHEAD");

	ahead = s != NULL ? strtol(s, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	unsetenv("PADDOCK_CLOCK_AHEAD");
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, id, ts);

	if (rc == 0 && id == CLOCK_REALTIME)
		ts->tv_sec += ahead;
	return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	*tv =
	    (struct timeval){.tv_sec = ts.tv_sec, .tv_usec = ts.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *at)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (at != NULL)
		*at = ts.tv_sec;
	return ts.tv_sec;
}
