/* SPDX-License-Identifier: Apache-2.0 */
/* backoff.h - waits between tries, each twice as long as the last wait. */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdint.h>

/*
 * Return the wait after LAST_MS (0: there was no wait yet), from LEAST_MS up to
 * MOST_MS.
 */
static inline int64_t backoff_ms(int64_t last_ms, int64_t least_ms,
				 int64_t most_ms)
{
	if (last_ms == 0)
		return least_ms;
	return last_ms < most_ms / 2 ? last_ms * 2 : most_ms;
}

#endif
