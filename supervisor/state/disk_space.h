/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_space.h - is there room on the state's file system for what need not be
 * written? Some of it is kept for what was promised: rows of runs, their ends.
 */
#ifndef SUPERVISOR_STATE_DISK_SPACE_H
#define SUPERVISOR_STATE_DISK_SPACE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/config/config.h"

#define DISK_SPACE_LARGE_BYTES 65536 /* from here on a row is large */
#define DISK_SPACE_PART 10 /* one part in so many is kept at the most */

enum disk_space {
	DISK_SPACE_OK,	/* for everything */
	DISK_SPACE_LOW, /* below the reserve: for rows that are not large */
	DISK_SPACE_SPENT, /* below half of it: no new run, but the ends of those */
};

/*
 * What there is, when SIZE bytes more were written: by disk_reserve_bytes of C,
 * or a tenth of the file system where that is less. Where nobody can say, there
 * is room.
 */
enum disk_space disk_space(const struct config *c, int64_t size);
/* The same for SIZE 0, as it was at most a quarter of a second ago. */
enum disk_space disk_space_lately(const struct config *c);

const char *disk_space_name(enum disk_space room); /* "ok", "low", "spent" */
/* What is told of it; NULL: there is room. No figure of the machine's. */
const char *disk_space_message(enum disk_space room);

#endif
