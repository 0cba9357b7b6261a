/* SPDX-License-Identifier: Apache-2.0 */
/* t_quota.c - calls a second, CPU time an hour. */
#include "supervisor/requestor/quota.h"
#include "tests/unit/tap.h"

#define START 1234567890LL

TEST(rate)
{
	struct quota_rate q = {0};
	int64_t now = START, wait = 0;
	int n = 0;

	while (n < 100 && quota_take(&q, 10000, 0, now, &wait))
		n++;
	is_int(n, 10, "without a burst, as many at once as in a second");
	is_int(wait, 100, "the next after a tenth of it");
	ok(!quota_take(&q, 10000, 0, now + 99, &wait),
	   "not a millisecond before");
	is_int(wait, 1,
	       "a refusal one millisecond early says how long to wait");
	ok(quota_take(&q, 10000, 0, now + 100, &wait),
	   "a message is taken when the tenth of a second is over");
	ok(!quota_take(&q, 10000, 0, now + 100, &wait),
	   "a second message in the same millisecond is refused");
	now += 100000;
	for (n = 0; n < 100 && quota_take(&q, 10000, 0, now, &wait);)
		n++;
	is_int(n, 10, "silence saves up no more than that");
}

TEST(burst)
{
	struct quota_rate q = {0};
	int64_t wait = 0;
	int n = 0;

	while (n < 100 && quota_take(&q, 3000, 5000, START, &wait))
		n++;
	is_int(n, 5, "a burst is how many may come at once");
	is_int(wait, 334, "a wait is rounded up");
	q = (struct quota_rate){0};
	for (n = 0, wait = 0; wait < 10000; wait++) {
		int64_t unused;

		if (quota_take(&q, 3000, 1000, START + wait, &unused))
			n++;
	}
	is_int(n, 30, "three a second are thirty in ten, however one asks");
	q = (struct quota_rate){0};
	for (n = 0; n < 5; n++)
		quota_take(&q, 3000, 5000, START, &wait);
	ok(!quota_take(&q, 3000, 2000, START, &wait) && wait == 1334,
	   "a burst that became smaller counts at once");
}

/* Messages which cannot be refused are taken at once, and the time is owed. */
TEST(owe)
{
	struct quota_rate q = {0};

	is_int(quota_owe(&q, 10000, 2000, START), 0,
	       "within a burst nobody waits");
	is_int(quota_owe(&q, 10000, 2000, START), 0, "for all of it");
	is_int(quota_owe(&q, 10000, 2000, START), 100,
	       "above it, until it is there");
	is_int(quota_owe(&q, 10000, 2000, START), 200,
	       "the waits of what is owed add up");
	is_int(quota_owe(&q, 10000, 2000, START + 400), 0,
	       "nobody waits when the owed time has passed");
}

TEST(hour)
{
	const int64_t minute = QUOTA_MINUTE_MS;
	struct quota_hour h = {0};
	int64_t now = 1000 * minute + 15000;

	is_int(quota_used(&h, now), 0, "nothing is used");
	is_int(quota_wait(&h, 1, now), 0, "nobody waits");
	quota_charge(&h, 700, now);
	quota_charge(&h, 300, now + 59 * minute);
	now += 59 * minute;
	is_int(quota_used(&h, now), 1000, "within the hour it is summed");
	is_int(quota_wait(&h, 1001, now), 0, "less than is allowed");
	is_int(quota_wait(&h, 1000, now), 45000,
	       "else until the oldest minute falls out");
	is_int(quota_wait(&h, 300, now), 59 * minute + 45000,
	       "a wait ends with the minute after which enough is free");
	is_int(quota_used(&h, now + 44999), 1000, "not before");
	is_int(quota_used(&h, now + 45000), 300,
	       "the oldest minute falls out after an hour");
	is_int(quota_wait(&h, 300, now + 45000), 59 * minute,
	       "the wait is as long as was said");
	is_int(quota_used(&h, now + 45000 + 59 * minute), 0, "all of it");
	quota_charge(&h, 5, now + 1000 * minute);
	is_int(quota_used(&h, now + 1000 * minute), 5,
	       "long silence leaves nothing behind");
}
