/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privs_private.h - types and functions that the files of privs share; no other
 * file includes the header.
 *
 *   privs.c        the serving user, the files given to the user, the drop of root
 *   privs_state.c  walks along paths with root's rights; the state folder
 */
#ifndef SUPERVISOR_SPAWN_PRIVS_PRIVATE_H
#define SUPERVISOR_SPAWN_PRIVS_PRIVATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Could they have put something else into, or where, FD is, which is ST? */
bool privs_theirs(int fd, const struct stat *st);

enum privs_links {
	PRIVS_NO_LINKS,	   /* none on the way is followed */
	PRIVS_ROOTS_LINKS, /* only where they could not have put it */
	PRIVS_MAKE,	   /* as that; and folders that are missing are made */
};

/* Where a path's last part lies. */
struct privs_way {
	int fd;	     /* that folder, O_PATH; -1: none */
	bool theirs; /* one of the folders to it, or it, is theirs */
	bool shared; /* anybody can add to it */
	bool made;   /* it was missing */
	char name[NAME_MAX + 1]; /* the last part; "." after a slash */
};

/*
 * As root: walk to the last part of PATH, folder by folder. 0 and *W, which
 * privs_walked() lets go of in any case; or -errno: -ELOOP is a link that
 * LINKS does not follow.
 */
int privs_walk(const char *path, enum privs_links links, struct privs_way *w);
void privs_walked(struct privs_way *w);

/* privs_give_state(), to UID and GID; TRY: privs_try_state(). */
int privs_hand_over(const char *dir, uid_t uid, gid_t gid, bool try,
		    char *errmsg, size_t size);

#endif
