/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_private.h - what the builder of the root and its workers share.
 *   rootfs_build.c  in the zygote: the root of all programs
 *   rootfs_copy.c   in the zygote: packages that are copied
 *   rootfs_etc.c    in the zygote: what installed packages keep below /etc
 *   rootfs_run.c    in a worker: what is one run's
 *   rootfs_in.c     in a worker: the files that its run is given
 */
#ifndef SANDBOX_ROOTFS_ROOTFS_PRIVATE_H
#define SANDBOX_ROOTFS_ROOTFS_PRIVATE_H

#include "sandbox/rootfs/rootfs.h"

#define ROOTFS_HIDDEN "/.paddock"
#define ROOTFS_PACKAGES ROOTFS_HIDDEN "/package"
#define ROOTFS_READS ROOTFS_HIDDEN "/read"
#define ROOTFS_ARTIFACTS ROOTFS_HIDDEN "/artifacts"
#define ROOTFS_GIVEN ROOTFS_HIDDEN "/in"    /* ROOTFS_IN, to write to */
#define ROOTFS_EMPTY ROOTFS_HIDDEN "/empty" /* an empty folder */
/* where files are taken out of an overlay */
#define ROOTFS_OVER ROOTFS_HIDDEN "/over"
/* over all of the above, of a run's own: who it is, where /etc leads to */
#define ROOTFS_PASSWD ROOTFS_HIDDEN "/passwd"
#define ROOTFS_GROUP ROOTFS_HIDDEN "/group"

enum rootfs_kind { ROOTFS_PACKAGE, ROOTFS_READ };

#define ROOTFS_NAME_MAX 64

/* The path at which the Ith of KIND is hidden. */
void rootfs_hidden(char out[ROOTFS_NAME_MAX], enum rootfs_kind kind, size_t i);

/* Where those who may see a read find it; NULL: nowhere, or all see it. */
struct rootfs_seen {
	const char *at;
	const char *name; /* of a file, in the folder that is hidden; or NULL */
};

/*
 * In the new root ROOT, while it is writable: copy the files of the package FD,
 * which is P of T, to TO, if they have P's digest. The copy depends on names
 * and bytes alone: all modes and times are the same. *ALL is what was copied so
 * far. 0; or -errno with P's errmsg, and no file is left there.
 */
int rootfs_copy(const struct rootfs *t, struct rootfs_path *p, int fd, int root,
		const char *to, uint64_t *all);

/*
 * In the new root ROOT, while it is writable: copies of the files below /etc
 * that installed packages need. Whatever cannot be copied is left out.
 */
void rootfs_copy_etc(int root);

/* A folder to take files out of: an overlay of FROM, or FROM itself and *BARE. */
int rootfs_open_over(const struct rootfs_run *r, const char *from, bool *bare);

/* Make ROOTFS_IN of R, and fill in what it gives out. 0 or -errno. */
int rootfs_in_show(struct rootfs_run *r, bool *bare);

extern struct rootfs_seen rootfs_seen[ROOTFS_READS_MAX];

/* The Ith folder (no link) of the host that all programs see; or NULL. */
const char *rootfs_shared(size_t i);

#endif
