/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_private.h - what the tree's builder and its workers share; nobody else
 * includes it.
 *
 *   rootfs_build.c  in the zygote: the root of all
 *   rootfs_copy.c   there: packages that are copied
 *   rootfs_run.c    in a worker: what is one run's
 */
#ifndef SANDBOX_ROOTFS_ROOTFS_PRIVATE_H
#define SANDBOX_ROOTFS_ROOTFS_PRIVATE_H

#include "sandbox/rootfs/rootfs.h"

#define ROOTFS_HIDDEN "/.paddock"
#define ROOTFS_PACKAGES ROOTFS_HIDDEN "/package"
#define ROOTFS_READS ROOTFS_HIDDEN "/read"
#define ROOTFS_EMPTY ROOTFS_HIDDEN "/empty" /* a folder without files */
#define ROOTFS_OVER ROOTFS_HIDDEN "/over"   /* where a file is taken out of */

enum rootfs_kind { ROOTFS_PACKAGE, ROOTFS_READ };

#define ROOTFS_NAME_MAX 64

/* Where the Ith of KIND is hidden. */
void rootfs_hidden(char out[ROOTFS_NAME_MAX], enum rootfs_kind kind, size_t i);

/* Where a read is seen by who may; NULL: not, or it is seen anyway. */
struct rootfs_seen {
	const char *at;
	const char *name; /* a file's, of the folder that is hidden; or NULL */
};

/*
 * In the new root ROOT, as long as it can be written to: the files of the
 * package FD, which is P of T, copied to TO, if they have P's digest. What is
 * copied is a function of that alone: names and bytes, with one mode and time.
 * *ALL is what was copied so far. 0; or -errno, with P's why: none is there.
 */
int rootfs_copy(const struct rootfs *t, struct rootfs_path *p, int fd, int root,
		const char *to, uint64_t *all);

extern struct rootfs_seen rootfs_seen[ROOTFS_READS_MAX];

/* Folders of the host that all programs see, and that is no link; or NULL. */
const char *rootfs_shared(size_t i);

#endif
