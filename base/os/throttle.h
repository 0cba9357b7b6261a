/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - limits the lines a minute, so nobody can fill a disk: a bound
 * for each kind of line and each account; lines beyond are counted and
 * reported. For one thread at a time.
 */
#ifndef BASE_OS_THROTTLE_H
#define BASE_OS_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THROTTLE_MS 60000
#define THROTTLE_WHO_MAX 64    /* significant bytes of an account's name */
#define THROTTLE_KEYS_MAX 4096 /* beyond, new accounts share a counter */

struct throttle { /* counters; zeroed: no line yet */
	struct throttled *by_key;
};

/*
 * May a line of KIND (compared by address) for the account WHO (N bytes) be
 * written at NOW_MS, when MOST a minute may? A minute begins with its first
 * line. When true, *HELD is the number of lines held back in the minute before,
 * to be reported now.
 */
bool throttle_pass(struct throttle *t, const void *kind, const char *who,
		   size_t n, unsigned most, int64_t now_ms, uint64_t *held);

/*
 * Call TELL for each kind and account with lines held back in a past minute;
 * forget the entries of past minutes. FINAL: all entries, whatever the time.
 */
void throttle_tell(struct throttle *t, int64_t now_ms, bool final,
		   void (*tell)(void *arg, const void *kind, const char *who,
				uint64_t held),
		   void *arg);

#endif
