/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_share.c - the rule by which queues, connections, sessions and calls are
 * shared between requestors. A refusal shows what the requestor itself has and
 * MOST, never the result, which depends on others.
 */
#include "base/fair_share.h"

#define RESERVE 10 /* one part in so many of the space is left for others */
#define STEPS 8

/*
 * From the time of its refusals a requestor could count what others have. So a
 * share is rounded to steps: eighths of MOST, below the first of them eighths
 * of that, and so on. Some space stays unused for that.
 */
static int64_t in_steps(int64_t most, int64_t room)
{
	while (most / STEPS > room && most >= STEPS)
		most /= STEPS;
	return most < STEPS ? room : room - room % (most / STEPS);
}

int64_t fair_share(int64_t most, int64_t theirs)
{
	int64_t room = most > theirs ? most - theirs : 0;

	return room > 1 ? in_steps(most, room - (room + RESERVE - 1) / RESERVE)
			: room;
}
