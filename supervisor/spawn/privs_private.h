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

/* Could the serving user have replaced FD, which is ST, or have put files into FD? */
bool privs_theirs(int fd, const struct stat *st);

enum privs_links {
	PRIVS_NO_LINKS, /* follow no link */
	/* follow only links that the serving user cannot have made */
	PRIVS_ROOTS_LINKS,
	PRIVS_MAKE, /* as PRIVS_ROOTS_LINKS, and make missing folders */
};

/* The place of a path's last part. */
struct privs_way {
	int fd;	     /* the folder, O_PATH; -1: none */
	bool theirs; /* FD or a folder on the way is the serving user's */
	bool shared; /* any user can add files */
	bool made;   /* FD was missing */
	char name[NAME_MAX + 1]; /* the last part; "." after a slash */
};

/*
 * As root: walk to the last part of PATH, folder by folder. 0 and *W, or
 * -errno: -ELOOP is a link that LINKS does not follow. Call privs_walked() in
 * either case.
 */
int privs_walk(const char *path, enum privs_links links, struct privs_way *w);
void privs_walked(struct privs_way *w);

/* privs_give_state(), to UID and GID; with TRY privs_try_state(). */
int privs_hand_over(const char *dir, uid_t uid, gid_t gid, bool try,
		    char *errmsg, size_t size);

#endif
