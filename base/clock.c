/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - reads CLOCK_MONOTONIC for durations and deadlines and
 * CLOCK_REALTIME for people, for every program, and follows the store's clock
 * when there is one. Reading a clock cannot fail on Linux.
 */
#include "base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOBODY INT64_MIN

/* the followed clock minus CLOCK_BOOTTIME */
static _Atomic int64_t ahead_ms = NOBODY;

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

int64_t clock_boot_ms(void)
{
	return read_us(CLOCK_BOOTTIME) / 1000;
}

int64_t clock_wall_us(void)
{
	int64_t ahead = atomic_load(&ahead_ms);

	return ahead == NOBODY ? read_us(CLOCK_REALTIME)
			       : read_us(CLOCK_BOOTTIME) + ahead * 1000;
}

int64_t clock_wall_ms(void)
{
	return clock_wall_us() / 1000;
}

bool clock_follow(int64_t wall_ms, int64_t boot_ms, int64_t slack_ms)
{
	int64_t before = atomic_load(&ahead_ms), now = wall_ms - boot_ms;

	if (before != NOBODY && llabs(now - before) <= slack_ms)
		return false;
	atomic_store(&ahead_ms, now);
	return true;
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
