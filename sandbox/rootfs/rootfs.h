/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs.h - the root directory of programs: what of the host they may read.
 *
 * Built once, in the zygote (rootfs_build.c): read-only binds of the host's programs
 * and libraries, a few devices, and, hidden, the packages and the folders that
 * templates may ask for, each opened once, through no link; of a package that
 * is granted by its digest (rootfs_copy.c), a copy with that digest. A worker
 * (rootfs_run.c) shows its program one package and its own /proc, /work, /tmp
 * and /dev/shm, gives it inodes of its own for what is the host's, and covers
 * what was hidden.
 */
#ifndef SANDBOX_ROOTFS_ROOTFS_H
#define SANDBOX_ROOTFS_ROOTFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/nofollow.h"

#define ROOTFS_READS_MAX 64u /* folders and files that templates ask for */

#define ROOTFS_DIGEST 65 /* 64 hexadecimal digits and a NUL */

#define ROOTFS_NO_PACKAGE SIZE_MAX

#define ROOTFS_TEMPLATE "/template"
#define ROOTFS_WORK "/work"

struct rootfs_path {
	char *path;	   /* of the host, absolute */
	struct file_id id; /* that alone is shown; of none: what lies there */
	int err; /* why it is not shown: -errno; -ESTALE: it is another file; of
		    a package: known before, then nobody looks */
	size_t link; /* with -ELOOP: how much of the path is the link; or 0 */
	/* of a package: what is shown is a copy, whose SHA-256 is this, so that
	   nobody changes it meanwhile; "": it is shown as it lies */
	char digest[ROOTFS_DIGEST];
	char *
	    errmsg; /* owned: of a copy with an err, a clause about it; or NULL */
	/* of a copy with -EFBIG: bytes that it has, or would make of all */
	uint64_t used;
	bool used_by_all;
};

struct rootfs {
	struct rootfs_path *packages; /* folders */
	size_t n_packages;
	struct rootfs_path *reads; /* or files; at most ROOTFS_READS_MAX */
	size_t n_reads;
	bool no_userns;	       /* the operator lets programs do without one */
	uint64_t copy_bytes;   /* that a package may have to be copied */
	uint64_t copies_bytes; /* and all of them together */
	bool
	    others; /* workers read with the rights of others: as it is built */
};

struct rootfs_run {
	size_t package;	  /* which of the packages, or ROOTFS_NO_PACKAGE */
	uint64_t reads;	  /* a bit for each of the reads */
	uint64_t bytes;	  /* that may be written: half of it in /work */
	uint64_t files;	  /* in /work; elsewhere less */
	unsigned int uid; /* who may write, as the cage counts */
	unsigned int gid;
	bool locks;	/* what it does to the inodes of its reads is granted */
	bool no_layers; /* a layer would show what mounts of the host hide */
};

/*
 * In a mount namespace of our own: build T, which is kept, and make it the
 * root. What cannot be shown of its packages and reads is left out, with the
 * reason there. 0, or -errno with the path that it failed at in *AT (static).
 */
int rootfs_build(struct rootfs *t, const char **at);

/*
 * Is the file at PATH, in the root that was built, one that no part of T lies
 * in or leads to? For who looks whether more of the host is in sight.
 */
bool rootfs_is_foreign(const struct rootfs *t, const char *path);

/*
 * In a worker, in a mount and a PID namespace of its own: the rest. *PROC is
 * /proc as it is hidden from the program, a descriptor for fstatat(2) and the
 * like, or -1 where there is none. *BARE: some inode that it sees is another's,
 * too, so that its filter has to refuse locks. 0 or -errno.
 */
int rootfs_enter(const struct rootfs_run *r, int *proc, bool *bare);

#endif
