/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_find.h - finds the cgroups of this process in two texts of proc(5).
 * Pure: only the texts are read.
 */
#ifndef SUPERVISOR_SPAWN_CGROUP_FIND_H
#define SUPERVISOR_SPAWN_CGROUP_FIND_H

/* Version 1 has a tree for each controller, version 2 one for all. */
enum cgroup_tree {
	CGROUP_MEMORY, /* of version 1 */
	CGROUP_PIDS,
	CGROUP_CPU,	/* of version 1; we can do without */
	CGROUP_UNIFIED, /* version 2; beside the others it may control nothing */
	CGROUP_TREES
};

struct cgroup_home {
	char *own[CGROUP_TREES]; /* the folder that we are in; NULL: not seen */
	char *top[CGROUP_TREES]; /* where that tree is mounted; NULL likewise */
};

/* From /proc/self/cgroup and /proc/self/mountinfo. */
void cgroup_find(const char *self, const char *mountinfo,
		 struct cgroup_home *home);
void cgroup_home_fini(struct cgroup_home *home);

#endif
