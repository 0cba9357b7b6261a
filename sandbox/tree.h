/*
 * tree.h - the root directory of programs: what of the host they may read.
 *
 * Built once, in the zygote: read-only binds of the host's programs and
 * libraries, a few devices, and, hidden, the packages and the folders that
 * templates may ask for. A worker shows its program one package and its own
 * /proc, /work, /tmp and /dev/shm, and covers what was hidden.
 */
#ifndef SANDBOX_TREE_H
#define SANDBOX_TREE_H

#include "sandbox/sandbox.h"

#define TREE_READS_MAX 64u /* folders and files that templates ask for */

#define TREE_NO_PACKAGE SIZE_MAX

#define TREE_TEMPLATE "/template"
#define TREE_WORK "/work"

struct tree {
	char *const *packages; /* folders of the host, absolute */
	size_t n_packages;
	char *const *reads; /* the same, or files; at most TREE_READS_MAX */
	size_t n_reads;
	bool no_userns; /* the operator lets programs do without one */
};

struct tree_run {
	size_t package;	  /* which of the packages, or TREE_NO_PACKAGE */
	uint64_t reads;	  /* a bit for each of the reads */
	uint64_t bytes;	  /* that may be written: half of it in /work */
	uint64_t files;	  /* in /work; elsewhere less */
	unsigned int uid; /* who may write, as the cage counts */
	unsigned int gid;
};

/*
 * In a mount namespace of our own: build T and make it the root. 0, or -errno
 * with the path that it failed at in *AT (static, or T's).
 */
int tree_build(const struct tree *t, const char **at);

/*
 * In a worker, in a mount and a PID namespace of its own: the rest. *PROC is
 * /proc as it is hidden from the program, a descriptor for fstatat(2) and the
 * like, or -1 where there is none. 0 or -errno.
 */
int tree_enter(const struct tree_run *r, int *proc);

#endif
