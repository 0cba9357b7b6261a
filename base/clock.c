/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - reads CLOCK_MONOTONIC for durations and deadlines, CLOCK_REALTIME
 * for people, for every program. Neither can fail on Linux.
 */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_mono_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int64_t clock_mono_ms(void)
{
	return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_wall_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}

void clock_iso(char out[CLOCK_ISO_SIZE], int64_t wall_ms)
{
	time_t s = (time_t)(wall_ms / 1000);
	char date[24];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, CLOCK_ISO_SIZE, "%.19s.%03uZ", date,
		 (unsigned)(wall_ms % 1000) % 1000);
}
