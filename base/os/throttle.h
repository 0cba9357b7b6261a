/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - how often a line may be written, so that nobody fills a disk:
 * each kind of line so many times a minute for each account; the rest is
 * counted and reported. For one thread at a time.
 */
#ifndef BASE_OS_THROTTLE_H
#define BASE_OS_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THROTTLE_MS 60000
#define THROTTLE_WHO_MAX 64    /* bytes of an account's name that count */
#define THROTTLE_KEYS_MAX 4096 /* beyond, accounts share what they have */

struct throttle { /* all-zero: nothing was written yet */
	struct throttled *by_key;
};

/*
 * May a line of KIND, which is only compared, for the account WHO (N bytes)
 * be written at NOW_MS, when MOST a minute may? Its minute begins with its
 * first line. *HELD (when true) is how many were held back in the last one,
 * which are told with this.
 */
bool throttle_pass(struct throttle *t, const void *kind, const char *who,
		   size_t n, unsigned most, int64_t now_ms, uint64_t *held);

/*
 * Call TELL for each kind whose minute is over and that held lines back; forget
 * the others. FINAL: for all, whatever the time.
 */
void throttle_tell(struct throttle *t, int64_t now_ms, bool final,
		   void (*tell)(void *arg, const void *kind, const char *who,
				uint64_t held),
		   void *arg);

#endif
