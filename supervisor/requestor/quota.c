/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.c - counts calls by the second and CPU time by the hour in a few
 * integers, for requestor.c and admission.c. Pure arithmetic on the time given
 * by the caller; "not now" comes with the milliseconds until then.
 */
#include "supervisor/requestor/quota.h"

#define WHOLE 1000000		    /* a call, in millionths */
#define LONG_MS INT64_C(1000000000) /* every debt is paid back by then */

/*
 * Return by how many millionths of a call one more call would be over the
 * limit. RATE, in thousandths of a call each second, is also millionths of a
 * call each millisecond.
 */
static int64_t over_by(struct quota_rate *q, int64_t rate, int64_t burst,
		       int64_t now_ms)
{
	int64_t most = (burst > 0 ? burst : rate) * (WHOLE / QUOTA_CALL);
	int64_t ms = now_ms - q->then_ms;
	int64_t back = (ms < LONG_MS ? ms : LONG_MS) * rate;

	q->then_ms = now_ms;
	q->spent = q->spent > back ? q->spent - back : 0;
	return q->spent + WHOLE - most;
}

bool quota_take(struct quota_rate *q, int64_t rate, int64_t burst,
		int64_t now_ms, int64_t *retry_after_ms)
{
	int64_t over = over_by(q, rate, burst, now_ms);

	if (over > 0) {
		*retry_after_ms = (over + rate - 1) / rate;
		return false;
	}
	q->spent += WHOLE;
	return true;
}

int64_t quota_owe(struct quota_rate *q, int64_t rate, int64_t burst,
		  int64_t now_ms)
{
	int64_t over = over_by(q, rate, burst, now_ms);

	q->spent += WHOLE;
	return over > 0 ? (over + rate - 1) / rate : 0;
}

/*
 * Clear the minutes that began since the last call; minutes of an hour ago are
 * dropped.
 */
static void move_to(struct quota_hour *h, int64_t now_ms)
{
	int64_t minute = now_ms / QUOTA_MINUTE_MS;
	int64_t new = minute - h->minute;

	if (new > QUOTA_MINUTES)
		new = QUOTA_MINUTES;
	for (; new > 0; new --)
		h->ms[(minute - new + 1) % QUOTA_MINUTES] = 0;
	h->minute = minute;
}

void quota_charge(struct quota_hour *h, int64_t ms, int64_t now_ms)
{
	move_to(h, now_ms);
	h->ms[h->minute % QUOTA_MINUTES] += ms;
}

int64_t quota_used(struct quota_hour *h, int64_t now_ms)
{
	int64_t sum = 0;

	move_to(h, now_ms);
	for (int i = 0; i < QUOTA_MINUTES; i++)
		sum += h->ms[i];
	return sum;
}

int64_t quota_wait(struct quota_hour *h, int64_t allowed_ms, int64_t now_ms)
{
	int64_t used = quota_used(h, now_ms);
	int64_t next = (h->minute + 1) * QUOTA_MINUTE_MS - now_ms;

	if (used < allowed_ms)
		return 0;
	/* from the oldest minute on */
	for (int64_t i = 1; i < QUOTA_MINUTES; i++) {
		used -= h->ms[(h->minute + i) % QUOTA_MINUTES];
		if (used < allowed_ms)
			return next + (i - 1) * QUOTA_MINUTE_MS;
	}
	return next + (int64_t)(QUOTA_MINUTES - 1) * QUOTA_MINUTE_MS;
}
