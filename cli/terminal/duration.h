/* SPDX-License-Identifier: Apache-2.0 */
/* duration.h - durations as people write and read them. */
#ifndef CLI_DURATION_H
#define CLI_DURATION_H

#include <stdint.h>

#define DURATION_MAX_MS ((int64_t)366 * 24 * 3600 * 1000)

/*
 * Parse a duration. Units are ms, s, m, h, d, largest first; a bare number is
 * seconds. 0 and *MS, at least 1; -EINVAL, or -ERANGE for a duration below 1 ms
 * or above DURATION_MAX_MS.
 */
int duration_parse(int64_t *ms, const char *text);

/* Write "950 ms", "12.3 s", "2 min 05 s", "3 h 07 min", "12 d 04 h". */
#define DURATION_SIZE 32
void duration_text(char out[DURATION_SIZE], int64_t ms);

#endif
