/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_find.h - finds the cgroups of this process in two texts of proc(5).
 * The functions are pure: only the texts are read.
 */
#ifndef SUPERVISOR_SPAWN_CGROUP_FIND_H
#define SUPERVISOR_SPAWN_CGROUP_FIND_H

/* Version 1 has a tree for each controller, version 2 a single tree. */
enum cgroup_tree {
	CGROUP_MEMORY, /* of version 1 */
	CGROUP_PIDS,
	CGROUP_CPU, /* of version 1; optional */
	/* version 2; beside version 1 possibly without controllers */
	CGROUP_UNIFIED,
	CGROUP_TREES
};

struct cgroup_home {
	char *own[CGROUP_TREES]; /* folder of this process; NULL: not found */
	char *top[CGROUP_TREES]; /* mount point of the tree; NULL: not found */
};

/* From the texts of /proc/self/cgroup and /proc/self/mountinfo. */
void cgroup_find(const char *self, const char *mountinfo,
		 struct cgroup_home *home);
void cgroup_home_fini(struct cgroup_home *home);

#endif
