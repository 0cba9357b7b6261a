/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_range.h - unused user and group ids of this machine, by the files of
 * passwd(5), group(5), subuid(5) and subgid(5), and the maps of
 * user_namespaces(7). Only files are asked, no directory service.
 */
#ifndef BASE_OS_ID_RANGE_H
#define BASE_OS_ID_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_RANGE_BLOCK 512u /* ids that a server reserves at once */
#define ID_RANGE_WHY 192

enum id_range_file {
	ID_RANGE_SUBUID,
	ID_RANGE_SUBGID,
	ID_RANGE_PASSWD,
	ID_RANGE_GROUP,
	ID_RANGE_UID_MAP, /* the ids that exist for us; "": all */
	ID_RANGE_GID_MAP,
	ID_RANGE_FILES
};

/* The text of each file; "" or NULL when there is no file. */
struct id_range_view {
	char *text[ID_RANGE_FILES];
};

struct id_range_taken {
	uint32_t last; /* last id of the range in the way */
	/* "/etc/subuid gives 100000-165535 to alice" */
	char errmsg[ID_RANGE_WHY];
};

/* Read this machine's files. V owns the texts; id_range_forget() frees them. */
void id_range_read(struct id_range_view *v);
void id_range_forget(struct id_range_view *v);

/*
 * Are all COUNT ids from FIRST on unused, and mapped for us? False: T tells the
 * range in the way.
 */
bool id_range_is_free(const struct id_range_view *v, uint32_t first,
		      uint32_t count, struct id_range_taken *t);

/*
 * Return the first id of a free block that TAKE accepts; 0: there is no such
 * block. SALT chooses the start of the search, so servers that do not see each
 * other's locks start at different places. The blocks are of regions where
 * distributions and systemd hand out nothing, last those within 16 bits.
 */
uint32_t id_range_pick(const struct id_range_view *v, uint64_t salt,
		       bool (*take)(void *arg, uint32_t first), void *arg);

/* Return an unused id that is the same at each start. 0: all are used. */
uint32_t id_range_spare(const struct id_range_view *v,
			struct id_range_taken *t);

/*
 * Open PATH, which is created, for locks on blocks: the kernel frees a lock
 * when its holder ends in any way. The descriptor, or -errno.
 */
int id_range_open(const char *path);
/* Lock COUNT ids from FIRST on. 0, or -EAGAIN: another server has some. */
int id_range_lock(int fd, uint32_t first, uint32_t count);
/*
 * Find a lock of another server on ids from FROM up to END: its range goes to
 * *FIRST and *COUNT. False: there is no lock.
 */
bool id_range_held(int fd, uint64_t from, uint64_t end, uint32_t *first,
		   uint32_t *count);

#define ID_RANGE_LOCKS                                                         \
	"/run/paddock/ids.lock" /* lock file of servers that root started */

#endif
