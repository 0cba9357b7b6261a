/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_share.c - the rule by which requestors share queues, connections,
 * sessions and calls. A refusal shows the requestor's own use and MOST, never
 * the result, which depends on other requestors.
 */
#include "base/fair_share.h"

#define RESERVE 10 /* a tenth of the space is left for other requestors */
#define STEPS 8

int64_t fair_share(int64_t most, int64_t theirs)
{
	int64_t room = most > theirs ? most - theirs : 0;

	if (room <= 1)
		return room;
	room -= (room + RESERVE - 1) / RESERVE;
	/*
	 * Round ROOM down to a step: eighths of MOST; below the first eighth, eighths
	 * of that; and so on. Otherwise a requestor could count the use of other
	 * requestors from the time of its refusals. The rounding leaves some space
	 * unused.
	 */
	while (most / STEPS > room && most >= STEPS)
		most /= STEPS;
	return most < STEPS ? room : room - room % (most / STEPS);
}
