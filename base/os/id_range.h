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

#define IDRANGE_BLOCK 512u /* ids; what a server reserves at once */
#define IDRANGE_WHY 192

enum idrange_file {
	IDRANGE_SUBUID,
	IDRANGE_SUBGID,
	IDRANGE_PASSWD,
	IDRANGE_GROUP,
	IDRANGE_UID_MAP, /* what there is at all, for us; "": everything */
	IDRANGE_GID_MAP,
	IDRANGE_FILES
};

/* What is known: each file's text, "" or NULL when there is none. */
struct idrange_view {
	char *text[IDRANGE_FILES];
};

struct idrange_taken {
	uint32_t last;		/* of what is in the way */
	char why[IDRANGE_WHY]; /* "/etc/subuid gives 100000-165535 to alice" */
};

/* This machine's. Each text is the view's; idrange_forget() frees them. */
void idrange_read(struct idrange_view *v);
void idrange_forget(struct idrange_view *v);

/* Are all COUNT ids from FIRST on nobody's, and there? Else how not, in T. */
bool idrange_is_free(const struct idrange_view *v, uint32_t first,
		     uint32_t count, struct idrange_taken *t);

/*
 * The first id of a block that is free and that TAKE takes; 0: there is none.
 * SALT says where the search begins, so that those who do not see each other's
 * locks begin elsewhere. What is tried comes from where distributions and
 * systemd hand out nothing; last from what fits 16 bits.
 */
uint32_t idrange_pick(const struct idrange_view *v, uint64_t salt,
		      bool (*take)(void *arg, uint32_t first), void *arg);

/* One id that stays the same from start to start, and is nobody's. 0: none. */
uint32_t idrange_spare(const struct idrange_view *v, struct idrange_taken *t);

/*
 * Locks on blocks, held by an open file at PATH, which is made: they are gone
 * with their holder, however that ends. Its descriptor, or -errno.
 */
int idrange_open(const char *path);
/* 0, or -EAGAIN: another has one of them. */
int idrange_lock(int fd, uint32_t first, uint32_t count);
/* Any that another holds of the ids FROM up to END, into both. False: none. */
bool idrange_held(int fd, uint64_t from, uint64_t end, uint32_t *first,
		  uint32_t *count);

#define IDRANGE_LOCKS "/run/paddock/ids.lock" /* of servers that root started */

#endif
