/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs.h - the root folder of programs: the files of the host that programs may read.
 * The zygote builds the root once (rootfs_build.c): read-only binds of the host's
 * programs and libraries, a few devices, and, hidden, the packages and paths for which
 * templates may ask, each opened once without following links. For a package granted by
 * digest the root has a copy with the digest (rootfs_copy.c). A worker (rootfs_run.c)
 * mounts a package and a private /proc, /work, /tmp and /dev/shm for the program, gives
 * the host's files separate inodes, and covers the hidden paths.
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
#define ROOTFS_IN ROOTFS_WORK "/in" /* input files of a run */
/* paddock's own modules and commands for programs */
#define ROOTFS_MODULES "/paddock"

struct rootfs_path {
	char *path; /* of the host, absolute */
	/* the file that must lie at the path; zero: any file */
	struct file_id id;
	/*
	 * -errno if the path was left out; -ESTALE: another file lies there.
	 * The caller may set ERR before the build.
	 */
	int err;
	/* with -ELOOP: the length of the path up to the link; or 0 */
	size_t link;
	/*
	 * of a package: show a copy with this SHA-256, so that the content
	 * cannot change; "": show the folder itself
	 */
	char digest[ROOTFS_DIGEST];
	bool may_be_itself; /* show the folder if no copy can be made */
	/* owned: for a failed copy, a clause with the cause; or NULL */
	char *errmsg;
	/* for a copy with -EFBIG: bytes of the package, or of all copies together */
	uint64_t used;
	bool used_by_all;
};

struct rootfs {
	struct rootfs_path *packages; /* folders */
	size_t n_packages;
	struct rootfs_path *reads; /* or files; at most ROOTFS_READS_MAX */
	size_t n_reads;
	/* the folder of artifacts, some of which a run sees; no path: none */
	struct rootfs_path artifacts;
	const char *modules; /* the folder shown at ROOTFS_MODULES; or NULL */
	bool in_artifacts;   /* the working folder is the folder of artifacts */
	/* the operator allows programs without a user namespace */
	bool no_userns;
	/* of a build: copy the files that resolve host names */
	bool network;
	uint64_t copy_bytes;   /* most bytes of a package to copy */
	uint64_t copies_bytes; /* most bytes of all copies together */
	bool others; /* out: workers read with the permissions of "others" */
};

struct rootfs_run {
	size_t package;	  /* index into packages, or ROOTFS_NO_PACKAGE */
	uint64_t reads;	  /* a bit for each of the reads */
	uint64_t bytes;	  /* writable bytes: half of the bytes in /work */
	uint64_t files;	  /* files in /work; fewer in the other folders */
	unsigned int uid; /* owner of the run's files, inside the namespace */
	unsigned int gid;
	bool locks; /* locks on the inodes of the reads are granted */
	/* no overlays: an overlay would reveal files under mounts of the host */
	bool no_layers;
	bool in;			/* the run has ROOTFS_IN, read-only */
	const struct shown_file *given; /* the files in ROOTFS_IN */
	size_t n_given;
	int in_fd;	  /* out: a writable descriptor of ROOTFS_IN, or -1 */
	uint64_t missing; /* out: a bit for each missing file */
};

/*
 * Call before entering a user namespace, in which the path to T's folder of
 * artifacts may be closed (the state folder belongs to the server alone): make
 * the folder of artifacts the working folder, from which rootfs_build() mounts
 * the folder. rootfs_build() leaves the working folder.
 */
void rootfs_enter_artifacts(struct rootfs *t);
/*
 * In a separate mount namespace: build T and make T the root. T stays lent. A
 * package or read that cannot be shown is left out, with the reason in struct
 * rootfs_path. 0, or -errno with the failed path in *AT (static).
 */
int rootfs_build(struct rootfs *t, const char **at);

/*
 * Is PATH, in the built root, neither in nor on the way to a part of T? For the
 * self-test, which looks for files of the host that were not granted.
 */
bool rootfs_is_foreign(const struct rootfs *t, const char *path);

/*
 * In a worker with a separate mount and PID namespace: mount the parts of a
 * single run. *PROC is a descriptor of a /proc that the program cannot see, or
 * -1. *BARE: some visible inode is shared with other runs, so that the filter
 * must refuse locks. 0 or -errno.
 */
int rootfs_enter(struct rootfs_run *r, int *proc, bool *bare);

#endif
