/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the clocks that paddock reads. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>

int64_t clock_mono_ms(void); /* CLOCK_MONOTONIC: for durations */
int64_t clock_mono_us(void);
int64_t clock_boot_ms(void); /* CLOCK_BOOTTIME: also counts in suspend */
/* Unix epoch, for people and rows: CLOCK_REALTIME, or the followed clock. */
int64_t clock_wall_ms(void);
int64_t clock_wall_us(void);

/*
 * Follow the database's clock, shared by servers on several machines: from now
 * on clock_wall_ms() is WALL_MS at BOOT_MS, and goes on from there. A
 * difference of SLACK_MS or less from the clock followed before changes
 * nothing: false.
 */
bool clock_follow(int64_t wall_ms, int64_t boot_ms, int64_t slack_ms);

/* Write WALL_MS as ISO 8601 in UTC with milliseconds; 25 bytes with NUL. */
#define CLOCK_ISO_SIZE 25
void clock_iso(char out[CLOCK_ISO_SIZE], int64_t wall_ms);

/*
 * A struct timeval for a timer or a socket's timeout, valid in the block
 * around.
 */
#define CLOCK_TIMEVAL(ms)                                                      \
	(&(struct timeval){.tv_sec = (ms) / 1000,                              \
			   .tv_usec = (ms) % 1000 * 1000L})

#endif
