/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_private.h - types and functions that the files of cgroup share; no
 * other file includes the header.
 *
 *   cgroup.c      the groups of the server's whole life
 *   cgroup_run.c  the groups of runs
 *   cgroup_file.c reads and writes the files of groups
 */
#ifndef SUPERVISOR_SPAWN_CGROUP_PRIVATE_H
#define SUPERVISOR_SPAWN_CGROUP_PRIVATE_H

#include "supervisor/spawn/cgroup.h"

#define CGROUP_TEXT_MAX 4096 /* of a file that we read */

extern struct cgroups {
	enum cgroup_version version;
	char errmsg[512];
	char *base[CGROUP_TREES]; /* our own folder in each; NULL: none */
	bool made[CGROUP_TREES];  /* and we made it, to be removed */
	int lock[CGROUP_TREES];	  /* held on it: its server lives */
	int procs[CGROUP_LEAVES][CGROUP_TREES]; /* opened by root, if it can */
} cgroups;

/* Our folder in the tree of version 1, or in version 2's one; NULL: none. */
const char *cgroup_base(enum cgroup_tree v1);

/* BASE/GROUP/FILE; GROUP NULL: of BASE; BASE NULL: -ENOENT. An fd, or -errno. */
int cgroup_open(const char *base, const char *group, const char *file,
		int flags);
int cgroup_put(const char *base, const char *group, const char *file,
	       const char *text);
int cgroup_put_number(const char *base, const char *group, const char *file,
		      uint64_t n);
/* Its text, NUL-ended: the length, or -errno. */
int cgroup_get(const char *base, const char *group, const char *file,
	       char text[CGROUP_TEXT_MAX]);
/* A file of one number, or the line of KEY in one of "key number" lines. */
int64_t cgroup_number(const char *base, const char *group, const char *file,
		      const char *key);
/* The same of such a file's TEXT. */
int64_t cgroup_number_in(const char *text, const char *key);
/* Call EACH with who is in GROUP, until it returns false. How many that were. */
size_t cgroup_members(const char *base, const char *group,
		      bool (*each)(void *arg, pid_t pid), void *arg);

/* mkdir and open what moves processes there. */
int cgroup_make(const char *base, const char *name);
/*
 * Its limits are who serves' from now on, and root's no more: a service manager may
 * leave root without CAP_DAC_OVERRIDE.
 */
void cgroup_give(const char *base, const char *name);
int cgroup_move(int procs, pid_t pid);

/* Hold all of NAME's trees to LIMITS. 0 or -errno. */
int cgroup_bound(const char *name, const struct cgroup_limits *limits);

#endif
