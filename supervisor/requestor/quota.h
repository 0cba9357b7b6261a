/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h - limits use over time: calls by the second, CPU time by the hour.
 * Pure: NOW_MS is a clock that never goes back. All-zero: unused.
 */
#ifndef SUPERVISOR_REQUESTOR_QUOTA_H
#define SUPERVISOR_REQUESTOR_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#define QUOTA_MINUTES 60
#define QUOTA_MINUTE_MS 60000

#define QUOTA_CALL 1000 /* rates and bursts are in thousandths of a call */

struct quota_rate {    /* a token bucket, as the tokens missing in the bucket */
	int64_t spent; /* millionths of a call, at THEN_MS */
	int64_t then_ms;
};

/*
 * Take one of RATE calls a second (1 or more), of which BURST (0: RATE) may
 * come at once. False: not now, but RETRY_AFTER_MS (1 or more) later; a refused
 * call costs nothing.
 */
bool quota_take(struct quota_rate *q, int64_t rate, int64_t burst,
		int64_t now_ms, int64_t *retry_after_ms);

/*
 * Take one call, whether or not there is room for one. Return how long (ms)
 * until there is.
 */
int64_t quota_owe(struct quota_rate *q, int64_t rate, int64_t burst,
		  int64_t now_ms);

struct quota_hour { /* a sliding hour, by the minute */
	int64_t ms[QUOTA_MINUTES];
	int64_t minute; /* the newest minute, by the clock */
};

void quota_charge(struct quota_hour *h, int64_t ms, int64_t now_ms);
/* Return the milliseconds charged in this minute and the 59 before. */
int64_t quota_used(struct quota_hour *h, int64_t now_ms);
/*
 * Return how long (ms) until less than ALLOWED_MS (1 or more) is used; 0: less
 * is used now.
 */
int64_t quota_wait(struct quota_hour *h, int64_t allowed_ms, int64_t now_ms);

#endif
