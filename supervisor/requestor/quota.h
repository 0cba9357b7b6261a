/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h - what somebody may use in a time: calls by the second, CPU time by
 * the hour. Pure: NOW_MS is a clock that never goes back. All-zero: unused.
 */
#ifndef SUPERVISOR_REQUESTOR_QUOTA_H
#define SUPERVISOR_REQUESTOR_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#define QUOTA_MINUTES 60
#define QUOTA_MINUTE_MS 60000

#define QUOTA_CALL 1000 /* rates and bursts are in thousandths of a call */

struct quota_rate {    /* a token bucket, told by what is missing in it */
	int64_t spent; /* millionths of a call, at THEN_MS */
	int64_t then_ms;
};

/*
 * Take one of RATE calls a second (1 or more), of which BURST (0: RATE) may come at
 * once. False: not now, but RETRY_AFTER_MS (1 or more) later; it
 * has cost nothing.
 */
bool quota_take(struct quota_rate *q, int64_t rate, int64_t burst,
		int64_t now_ms, int64_t *retry_after_ms);

/* Take one, whether or not it is there: how long (ms) it takes until it is. */
int64_t quota_owe(struct quota_rate *q, int64_t rate, int64_t burst,
		  int64_t now_ms);

struct quota_hour { /* a sliding hour, by the minute */
	int64_t ms[QUOTA_MINUTES];
	int64_t minute; /* of the clock: the newest */
};

void quota_charge(struct quota_hour *h, int64_t ms, int64_t now_ms);
/* What was charged in this minute and the 59 before. */
int64_t quota_used(struct quota_hour *h, int64_t now_ms);
/* How long until less than ALLOWED_MS (1 or more) is used; 0: it is. */
int64_t quota_wait(struct quota_hour *h, int64_t allowed_ms, int64_t now_ms);

#endif
