/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_share.c - the one rule by which queues, connections, sessions and calls are
 * shared between those who ask. Who is refused by it is told what they have
 * themselves and MOST, never the result: that depends on others.
 */
#include "base/fair_share.h"

#define RESERVE 10 /* one part in so many of the room is left for others */
#define STEPS 8

/*
 * Who fills its share could count what others have by how soon it is refused,
 * so a share is told in steps: eighths of MOST, and below the first of them
 * eighths of that, and so on. Some room is never given for that.
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
