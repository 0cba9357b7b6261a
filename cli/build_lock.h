/* SPDX-License-Identifier: Apache-2.0 */
/* build_lock.h - the locks of a package, read and checked before a build. */
#ifndef CLI_BUILD_LOCK_H
#define CLI_BUILD_LOCK_H

#include "base/buf.h"

#define BUILD_LOCK_FILES 2

/* What one tool builds from, and where to. */
struct build_kind {
	const char *tool;   /* as paddock-worker calls it */
	const char *folder; /* of the package, which it fills */
	const char *files[BUILD_LOCK_FILES]; /* the lock first; or NULL */
	const char *made_by;		     /* how the lock is made */
};

#define BUILD_KINDS 2
extern const struct build_kind build_kinds[BUILD_KINDS];

struct build_lock {
	const struct build_kind *kind;
	struct buf text[BUILD_LOCK_FILES]; /* as the tool gets them */
};

/*
 * Read those that lie in the package FD, which is DIR to people, to LOCKS: how
 * many; build_lock_fini() each. Or -1, and it was said what is wrong with one,
 * or that there is none.
 */
int build_lock_read(int fd, const char *dir,
		    struct build_lock locks[BUILD_KINDS]);
void build_lock_fini(struct build_lock *l);

#endif
