/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id.h - unguessable names that order by time.
 *
 * An id is PREFIX_ and 26 characters of lower-case base32 (the letters of RFC
 * 4648, but 2-7 before a-z, so strcmp(3) orders by time): 48 bits of Unix
 * milliseconds, 2 bits of quarters, then 80 random bits of getrandom(2).
 */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stdbool.h>
#include <stdint.h>

#define ID_SIZE 32 /* bytes of an id with NUL; the longest prefix is "sess" */

/* Write a fresh id with PREFIX ("run", "art", "sess", "tab", "inst"). */
void id_new(char out[ID_SIZE], const char *prefix);

/*
 * Use the time of the clock that clock_follow() has set, even when ids become
 * less than earlier ids. But when the new clock is less than a second behind,
 * ids never decrease in this process.
 */
void id_clock_was_set(void);

/*
 * Write the least id that id_new() could write at WALL_MS, cut to its time
 * range.
 */
void id_since(char out[ID_SIZE], const char *prefix, int64_t wall_ms);

/* length of an id, as by strlen(3) */
#define ID_TEXT(prefix) (sizeof(prefix) - 1 + 27)
/* a text that orders after every id */
#define ID_AFTER_ALL "~"

/* Could S be an id with PREFIX? The shape is checked, not the existence. */
bool id_ok(const char *s, const char *prefix);

#endif
