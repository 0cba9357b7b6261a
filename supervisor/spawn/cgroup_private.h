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

#define CGROUP_TEXT_MAX 4096 /* most bytes of a file to read */

extern struct cgroups {
	enum cgroup_version version;
	char errmsg[512];
	char *base[CGROUP_TREES]; /* the server's folders; NULL: none */
	bool made[CGROUP_TREES];  /* the folder must be removed */
	int lock[CGROUP_TREES];	  /* locked while the server is alive */
	int procs[CGROUP_LEAVES][CGROUP_TREES]; /* opened by root if possible */
} cgroups;

/* The server's folder in the tree of version 1, or in the unified tree; NULL: none. */
const char *cgroup_base(enum cgroup_tree v1);

/* Open BASE/GROUP/FILE; GROUP NULL: BASE/FILE; BASE NULL: -ENOENT. Or other -errno. */
int cgroup_open(const char *base, const char *group, const char *file,
		int flags);
int cgroup_put(const char *base, const char *group, const char *file,
	       const char *text);
int cgroup_put_number(const char *base, const char *group, const char *file,
		      uint64_t n);
/* Read the text, NUL-terminated: the length, or -errno. */
int cgroup_get(const char *base, const char *group, const char *file,
	       char text[CGROUP_TEXT_MAX]);
/* Read the number in the file, or in the line "KEY number" of the file. */
int64_t cgroup_number(const char *base, const char *group, const char *file,
		      const char *key);
/* As cgroup_number(), from the TEXT of a file. */
int64_t cgroup_number_in(const char *text, const char *key);
/* Call EACH with each process in GROUP until false. Returns the number of calls. */
size_t cgroup_members(const char *base, const char *group,
		      bool (*each)(void *arg, pid_t pid), void *arg);

/* Make a group, and open the file that moves processes to the group. */
int cgroup_make(const char *base, const char *name);
/*
 * Give the limits to the serving user. Afterwards root cannot change the
 * limits: a service manager may run root without CAP_DAC_OVERRIDE.
 */
void cgroup_give(const char *base, const char *name);
int cgroup_move(int procs, pid_t pid);

/* Set LIMITS in all trees of NAME. 0 or -errno. */
int cgroup_bound(const char *name, const struct cgroup_limits *limits);

#endif
