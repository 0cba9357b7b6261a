/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs.h - the root folder of programs: what of the host they may read.
 *
 * It is built once, in the zygote (rootfs_build.c): read-only binds of the
 * host's programs and libraries, a few devices, and, hidden, the packages and
 * the paths that templates may ask for, each opened once, through no link; of a
 * package that is granted by its digest, a copy with that digest
 * (rootfs_copy.c). A worker (rootfs_run.c) mounts for its program one package
 * and its own /proc, /work, /tmp and /dev/shm, gives it inodes of its own for
 * the host's files, and covers what was hidden.
 */
#ifndef SANDBOX_ROOTFS_ROOTFS_H
#define SANDBOX_ROOTFS_ROOTFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/nofollow.h"
#include "base/os/shown_file.h"

#define ROOTFS_READS_MAX 64u /* folders and files that templates ask for */

#define ROOTFS_DIGEST 65 /* 64 hexadecimal digits and a NUL */

#define ROOTFS_NO_PACKAGE SIZE_MAX

#define ROOTFS_TEMPLATE "/template"
#define ROOTFS_WORK "/work"
#define ROOTFS_IN ROOTFS_WORK "/in" /* files that a run is given */

struct rootfs_path {
	char *path; /* of the host, absolute */
	/* only this file is shown; zero: whatever lies there */
	struct file_id id;
	/*
	 * why it is not shown: -errno; -ESTALE: it is another file; it may be
	 * set before
	 */
	int err;
	/* with -ELOOP: the length of the path up to the link; or 0 */
	size_t link;
	/*
	 * of a package: a copy with this SHA-256 is shown, so that nobody
	 * changes it meanwhile; "": the folder itself
	 */
	char digest[ROOTFS_DIGEST];
	bool may_be_itself; /* the folder, where there can be no copy */
	char *
	    /* owned: of a copy with an err, a clause about it; or NULL */
	    errmsg;
	/* of a copy with -EFBIG: its bytes, or those of all copies with it */
	uint64_t used;
	bool used_by_all;
};

struct rootfs {
	struct rootfs_path *packages; /* folders */
	size_t n_packages;
	struct rootfs_path *reads; /* or files; at most ROOTFS_READS_MAX */
	size_t n_reads;
	/* the folder of artifacts, of which runs are shown some; no path: none */
	struct rootfs_path artifacts;
	bool in_artifacts; /* that is the working folder */
	bool no_userns;	   /* the operator lets programs do without one */
	bool network;	   /* of a build: what names of hosts are resolved by */
	uint64_t copy_bytes;   /* that a package may have to be copied */
	uint64_t copies_bytes; /* and all of them together */
	bool others; /* output: workers read with the permissions of others */
};

struct rootfs_run {
	size_t package;	  /* which of the packages, or ROOTFS_NO_PACKAGE */
	uint64_t reads;	  /* a bit for each of the reads */
	uint64_t bytes;	  /* that may be written: half of it in /work */
	uint64_t files;	  /* in /work; elsewhere less */
	unsigned int uid; /* of the files that it writes, inside */
	unsigned int gid;
	bool locks;	/* locks on the inodes of its reads are granted */
	bool no_layers; /* overlays would show what mounts of the host hide */
	bool in;	/* it has ROOTFS_IN, read-only… */
	const struct shown_file *given; /* …with these in it */
	size_t n_given;
	int in_fd;	  /* out: it, to write to; or -1 */
	uint64_t missing; /* out: a bit for each file that is not there */
};

/*
 * Before a user namespace, in which the way to T's folder of artifacts may be
 * closed (the state folder is the server's alone): make that folder the working
 * folder, for rootfs_build() to show it from there. rootfs_build() leaves it.
 */
void rootfs_enter_artifacts(struct rootfs *t);
/*
 * In a mount namespace of our own: build T, which is kept, and make it the
 * root. A package or read that cannot be shown is left out, with the reason in
 * it. 0, or -errno with the path that it failed at in *AT (static).
 */
int rootfs_build(struct rootfs *t, const char **at);

/*
 * Is PATH, in the root that was built, one that no part of T lies in or leads
 * to? For the self-test, which looks for more of the host than was granted.
 */
bool rootfs_is_foreign(const struct rootfs *t, const char *path);

/*
 * In a worker, in a mount and a PID namespace of its own: the rest. *PROC is a
 * descriptor of a /proc that the program does not see, or -1. *BARE: some inode
 * that it sees is another's, too, so that its filter must refuse locks. 0 or
 * -errno.
 */
int rootfs_enter(struct rootfs_run *r, int *proc, bool *bare);

#endif
