/* SPDX-License-Identifier: Apache-2.0 */
/* build_lock.h - the locks of a package, read and checked before a build. */
#ifndef CLI_BUILD_LOCK_H
#define CLI_BUILD_LOCK_H

#include "base/buf.h"

#define BUILD_LOCK_FILES 2

/* A package tool: the files to build from, and the folder to fill. */
struct build_kind {
	const char *tool;   /* as paddock-worker calls it */
	const char *folder; /* in the package, filled by the tool */
	const char *files[BUILD_LOCK_FILES]; /* the lock first; or NULL */
	const char *made_by;		     /* a hint: how to make the lock */
};

#define BUILD_KINDS 2
extern const struct build_kind build_kinds[BUILD_KINDS];

struct build_lock {
	const struct build_kind *kind;
	struct buf text[BUILD_LOCK_FILES]; /* as the tool gets them */
};

/*
 * Read the lock files of the package FD (DIR in messages) into LOCKS. Returns
 * how many; the caller frees each by build_lock_fini(). Or -1: a lock is
 * invalid, or there is none, which was printed.
 */
int build_lock_read(int fd, const char *dir,
		    struct build_lock locks[BUILD_KINDS]);
void build_lock_fini(struct build_lock *l);

#endif
