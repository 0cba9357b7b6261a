/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - takes slots at random for spawner.c. A process of an earlier run may still be
 * ending when the next run begins, so a user id rests before the next use. Without a free
 * slot, or without random bytes, no worker begins: -EAGAIN.
 */
#include "supervisor/spawn/ids/slots.h"

#include <errno.h>
#include <sys/random.h>

/* Is slot I free, and rested if RESTED? */
static bool is_fit(const struct slots *s, uint32_t i, bool rested)
{
	return !s->used[i] && (!rested || s->taken_as[i] == 0 ||
			       s->taken - s->taken_as[i] >= SLOTS_REST);
}

static uint32_t count(const struct slots *s, bool rested)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ZYGOTE_PROTO_SLOTS; i++)
		n += is_fit(s, i, rested);
	return n;
}

int slots_take(struct slots *s, uint32_t *slot)
{
	uint32_t fit = count(s, true), random;
	bool rested = fit > 0;

	if (!rested)
		fit = count(s, false);
	if (fit == 0 ||
	    getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EAGAIN;
	random %= fit;
	for (uint32_t i = 0; i < ZYGOTE_PROTO_SLOTS; i++) {
		if (!is_fit(s, i, rested) || random-- > 0)
			continue;
		s->used[i] = true;
		s->taken_as[i] = ++s->taken;
		*slot = i;
		return 0;
	}
	return -EAGAIN;
}
