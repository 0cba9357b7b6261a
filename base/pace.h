/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - a pace of events: AT_ONCE events at once, and a further event each EACH_US. The
 * pace refuses nothing; the caller lets no event happen while the pace is ahead.
 */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct pace {
	int64_t at_once, each_us;
	int64_t due_us; /* the time of the next event, if events never paused */
};

/* Note an event. */
static inline void pace_note(struct pace *p)
{
	int64_t least = clock_mono_us() - p->at_once * p->each_us;

	p->due_us = (p->due_us > least ? p->due_us : least) + p->each_us;
}

/* Has the caller to wait before the next event? */
static inline bool pace_is_ahead(const struct pace *p)
{
	return p->due_us > clock_mono_us();
}

#endif
