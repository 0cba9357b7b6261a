/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id.h - names that order by time and cannot be guessed.
 *
 * PREFIX_ and 26 characters of lower-case base32 (those of RFC 4648, but
 * 2-7 before a-z, so that strcmp(3) orders by time): 48 bits of Unix
 * milliseconds, 2 more of its quarters, then 80 random bits of getrandom(2).
 */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stdbool.h>
#include <stdint.h>

#define ID_SIZE 32 /* the longest prefix is "sess"; with NUL */

/* Writes a fresh id with PREFIX ("run", "art", "sess", "tab", "inst"). */
void id_new(char out[ID_SIZE], const char *prefix);

/*
 * clock_follow() has another clock: ids have its time from now on, though they be
 * less than those before. Else, and when it is less than a second behind, the time of
 * an id is never less than of one before in this process.
 */
void id_clock_was_set(void);

/* The least that id_new() could write at WALL_MS, or at its own first or last. */
void id_since(char out[ID_SIZE], const char *prefix, int64_t wall_ms);

#define ID_TEXT(prefix) (sizeof(prefix) - 1 + 27) /* its length: strlen(3) */
#define ID_AFTER_ALL "~"			  /* orders after every id */

/* Could S be an id with PREFIX? Shape alone; says nothing of existence. */
bool id_ok(const char *s, const char *prefix);

#endif
