/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_range.h - user and group ids that nobody on this machine has: by what the
 * files of passwd(5), group(5), subuid(5) and subgid(5) say, and the maps of
 * user_namespaces(7). Only files are asked, no directory service.
 */
#ifndef BASE_OS_ID_RANGE_H
#define BASE_OS_ID_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_RANGE_BLOCK 512u /* ids; what a server reserves at once */
#define ID_RANGE_WHY 192

enum id_range_file {
	ID_RANGE_SUBUID,
	ID_RANGE_SUBGID,
	ID_RANGE_PASSWD,
	ID_RANGE_GROUP,
	ID_RANGE_UID_MAP, /* what there is at all, for us; "": everything */
	ID_RANGE_GID_MAP,
	ID_RANGE_FILES
};

/* What is known: each file's text, "" or NULL when there is none. */
struct id_range_view {
	char *text[ID_RANGE_FILES];
};

struct id_range_taken {
	uint32_t last; /* of what is in the way */
	/* "/etc/subuid gives 100000-165535 to alice" */
	char errmsg[ID_RANGE_WHY];
};

/* This machine's. Each text is the view's; id_range_forget() frees them. */
void id_range_read(struct id_range_view *v);
void id_range_forget(struct id_range_view *v);

/* Are all COUNT ids from FIRST on nobody's, and there? Else how not, in T. */
bool id_range_is_free(const struct id_range_view *v, uint32_t first,
		      uint32_t count, struct id_range_taken *t);

/*
 * The first id of a block that is free and that TAKE takes; 0: there is none.
 * SALT says where the search begins, so that those who do not see each other's
 * locks begin elsewhere. What is tried comes from where distributions and
 * systemd hand out nothing; last from what fits 16 bits.
 */
uint32_t id_range_pick(const struct id_range_view *v, uint64_t salt,
		       bool (*take)(void *arg, uint32_t first), void *arg);

/* One id that stays the same from start to start, and is nobody's. 0: none. */
uint32_t id_range_spare(const struct id_range_view *v,
			struct id_range_taken *t);

/*
 * Locks on blocks, held by an open file at PATH, which is made: they are gone
 * with their holder, however that ends. Its descriptor, or -errno.
 */
int id_range_open(const char *path);
/* 0, or -EAGAIN: another has one of them. */
int id_range_lock(int fd, uint32_t first, uint32_t count);
/* Any that another holds of the ids FROM up to END, into both. False: none. */
bool id_range_held(int fd, uint64_t from, uint64_t end, uint32_t *first,
		   uint32_t *count);

#define ID_RANGE_LOCKS                                                         \
	"/run/paddock/ids.lock" /* of servers that root started */

#endif
