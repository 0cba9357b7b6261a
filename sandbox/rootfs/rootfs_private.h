/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_private.h - declarations for the builder of the root and for workers.
 *   rootfs_build.c  in the zygote: the root of all programs
 *   rootfs_copy.c   in the zygote: copies of packages
 *   rootfs_etc.c    in the zygote: copies of files of packages below /etc
 *   rootfs_run.c    in a worker: the mounts of a run
 *   rootfs_in.c     in a worker: the input files of a run
 */
#ifndef SANDBOX_ROOTFS_ROOTFS_PRIVATE_H
#define SANDBOX_ROOTFS_ROOTFS_PRIVATE_H

#include "sandbox/rootfs/rootfs.h"

#define ROOTFS_HIDDEN "/.paddock"
#define ROOTFS_PACKAGES ROOTFS_HIDDEN "/package"
#define ROOTFS_READS ROOTFS_HIDDEN "/read"
#define ROOTFS_ARTIFACTS ROOTFS_HIDDEN "/artifacts"
/* the writable folder behind ROOTFS_IN */
#define ROOTFS_GIVEN ROOTFS_HIDDEN "/in"
#define ROOTFS_EMPTY ROOTFS_HIDDEN "/empty" /* an empty folder */
/* mount point for the overlay from which files are bound */
#define ROOTFS_OVER ROOTFS_HIDDEN "/over"
/*
 * in the tmpfs that covers ROOTFS_HIDDEN in a run: names of users, to which
 * /etc has links
 */
#define ROOTFS_PASSWD ROOTFS_HIDDEN "/passwd"
#define ROOTFS_GROUP ROOTFS_HIDDEN "/group"

enum rootfs_kind { ROOTFS_PACKAGE, ROOTFS_READ };

#define ROOTFS_NAME_MAX 64

/* The hidden path of the Ith path of KIND. */
void rootfs_hidden(char out[ROOTFS_NAME_MAX], enum rootfs_kind kind, size_t i);

/* The visible path of a read; NULL: no path, or visible to all programs. */
struct rootfs_seen {
	const char *at;
	const char *name; /* of a file, in the hidden folder; or NULL */
};

/*
 * While the new root ROOT is writable: copy the files of the package FD, which
 * is P of T, to TO, if the files have P's digest. The copy depends on names and
 * bytes alone: all modes and times are equal. *ALL counts the copied bytes of
 * all packages. 0; or -errno with P's errmsg and without any file left at TO.
 */
int rootfs_copy(const struct rootfs *t, struct rootfs_path *p, int fd, int root,
		const char *to, uint64_t *all);

/*
 * While the new root ROOT is writable: copy the files below /etc that installed
 * packages need. A file that cannot be copied is left out.
 */
void rootfs_copy_etc(int root);

/*
 * Open a folder from which files are bound: an overlay of FROM, or FROM itself and *BARE.
 */
int rootfs_open_over(const struct rootfs_run *r, const char *from, bool *bare);

/* Make ROOTFS_IN of R, and set in_fd and missing of R. 0 or -errno. */
int rootfs_in_show(struct rootfs_run *r, bool *bare);

extern struct rootfs_seen rootfs_seen[ROOTFS_READS_MAX];

/* The Ith folder of the host (no link) that all programs see; or NULL. */
const char *rootfs_shared(size_t i);

#endif
