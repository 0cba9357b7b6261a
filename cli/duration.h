/* SPDX-License-Identifier: Apache-2.0 */
/* duration.h - "90", "1m30s", "1.5h", "250ms" as milliseconds. */
#ifndef CLI_DURATION_H
#define CLI_DURATION_H

#include <stdint.h>

#define DURATION_MAX_MS ((int64_t)366 * 24 * 3600 * 1000)

/*
 * Units are ms, s, m, h, d, largest first; a bare number is seconds. 0 and
 * *MS, at least 1; -EINVAL, or -ERANGE for none or more than DURATION_MAX_MS.
 */
int duration_parse(int64_t *ms, const char *text);

#endif
