/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_space.h - is there room on the state's file system for writes that can
 * be refused? A reserve is kept for promised writes: rows of runs, their ends.
 */
#ifndef SUPERVISOR_STATE_DISK_SPACE_H
#define SUPERVISOR_STATE_DISK_SPACE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/config/config.h"

#define DISK_SPACE_LARGE_BYTES 65536 /* a row of so many bytes is large */
#define DISK_SPACE_PART 10    /* the reserve is at most this part of the disk */
#define DISK_SPACE_FILES 4096 /* free inodes to keep */

enum disk_space {
	DISK_SPACE_OK,	/* room for everything */
	DISK_SPACE_LOW, /* below the reserve: room for small rows */
	/* below half of the reserve: no new run, only the ends of runs */
	DISK_SPACE_SPENT,
};

/*
 * A copy of the place and the reserve, since a reload may free the
 * configuration.
 */
struct disk_space_of {
	char *dir;
	int64_t reserve;
};

void disk_space_of_init(struct disk_space_of *of, const struct config *c);
void disk_space_of_fini(struct disk_space_of *of);
/* As disk_space() for the configuration that OF was made of; on any thread. */
enum disk_space disk_space_at(const struct disk_space_of *of, int64_t size);

/*
 * Return the room left if SIZE bytes more were written: by disk_reserve_bytes
 * of C, or a tenth of the file system where that is less; and by free inodes,
 * DISK_SPACE_FILES or a tenth of all. Where nothing can be measured, there is
 * room.
 */
enum disk_space disk_space(const struct config *c, int64_t size);
/* As disk_space() for SIZE 0; at most a quarter of a second old. */
enum disk_space disk_space_lately(const struct config *c);

/* returns "ok", "low" or "spent" */
const char *disk_space_name(enum disk_space room);
/*
 * Return the message for clients; NULL: there is room. No figure of the
 * machine's.
 */
const char *disk_space_message(enum disk_space room);

#endif
