/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - the cgroups in which the kernel limits and counts the common use
 * of several processes.
 *
 * Below a folder of this server:
 *
 *   lua       the zygotes of Lua and all their workers; the allocator of each
 *             worker holds its memory, since a group for each would double the
 *             cost of a run
 *   programs  the zygotes of programs
 *   browser   paddock-browser, its helpers, and Chromium
 *   egress    paddock-egress, and its child for each run with network
 *   run-N     the run of one program: N is a slot, and used again
 *
 * Where the controller of CPU time is available runs have equal shares of CPU
 * time, however many processes each run has.
 *
 * Version 1 has a tree for each controller, version 2 a single tree. A server
 * without the right to make groups has none, and says so. Steps that need root
 * are done before root is given up, or by privsep.
 */
#ifndef SUPERVISOR_SPAWN_CGROUP_H
#define SUPERVISOR_SPAWN_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/runtime.h"
#include "supervisor/spawn/cgroup_find.h"

enum cgroup_version { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };
/* The first groups are for the zygotes and their workers, by enum runtime_kind. */
enum cgroup_leaf { CGROUP_BROWSER = RUNTIMES, CGROUP_EGRESS, CGROUP_LEAVES };

struct cgroup_limits { /* for all processes of a group together */
	uint64_t memory_bytes;
	uint64_t processes; /* and threads */
};

struct cgroup_use { /* -1: unknown */
	int64_t peak_bytes;
	int64_t cpu_user_us, cpu_system_us;
	int64_t oom_kills; /* processes killed for their memory */
	int64_t refused;   /* refused forks of processes or threads */
};

#define CGROUP_USE_UNKNOWN ((struct cgroup_use){-1, -1, -1, -1, -1})

/* Make the groups, and remove groups of dead servers. Called once, before privsep. */
void cgroup_init(void);
enum cgroup_version cgroup_version(void);
const char *cgroup_name(void); /* "v2", "v1", "none" */
/* the cause of missing cgroups, and the remedy; or "" */
const char *cgroup_why(void);
/* Do cgroups divide CPU time among runs? The controller may be missing. */
bool cgroup_divides_cpu(void);

/* Set the limits of LEAF; also at each change of the configuration. */
void cgroup_limit(enum cgroup_leaf leaf, const struct cgroup_limits *limits);
/* Let the serving user change the leaves' limits, after root has set the first limits. */
void cgroup_hand_over(void);
/* Move PID, and all later children of PID, to LEAF. 0 or -errno. */
int cgroup_place(enum cgroup_leaf leaf, pid_t pid);
/*
 * For the process that made the groups: as clone(2) with FLAGS, but the child is in LEAF
 * before the function returns in the child. Such a start takes no time, while
 * cgroup_place() waits milliseconds for all processors. Where the kernel refuses, the
 * caller must use cgroup_place(). Returns the child's pid, 0 in the child, or -errno.
 */
pid_t cgroup_clone(enum cgroup_leaf leaf, unsigned long flags);
/* Is PID in LEAF, and does LEAF have limits? Read back from the kernel. */
bool cgroup_holds(enum cgroup_leaf leaf, pid_t pid);

/*
 * Move PID, which has no children yet, to SLOT's empty group, with LIMITS and with zero
 * use. 0 or -errno; -ENOTSUP: no cgroups.
 */
int cgroup_run_begin(uint32_t slot, const struct cgroup_limits *limits,
		     pid_t pid);
/*
 * Set LIMITS for the processes of SLOT, which waited for a run, and count use from zero.
 * As cgroup_run_begin(); without a move, which would take milliseconds.
 */
int cgroup_run_again(uint32_t slot, const struct cgroup_limits *limits);
/* Return the CPU time (ms) of SLOT's processes so far, unwaited ones too; or -1. */
int64_t cgroup_run_cpu_ms(uint32_t slot);
/* Return how many of SLOT's processes the kernel has killed for memory so far; or -1. */
int64_t cgroup_run_oom_kills(uint32_t slot);
/* Get the use of SLOT's processes since the group's last begin. */
void cgroup_run_look(uint32_t slot, struct cgroup_use *use);
/* Get the use of SLOT's processes, and kill all remaining processes. */
void cgroup_run_end(uint32_t slot, struct cgroup_use *use);

/*
 * For privsep, or for the supervisor that keeps root: make SLOT's group in TREE. Returns
 * a descriptor that moves processes to the group, or -errno; -ENOENT: TREE is not in use.
 */
int cgroup_make_run(uint32_t slot, enum cgroup_tree tree);

/* Remove all groups after the last process has exited; for the maker of the groups. */
void cgroup_remove(void);

#endif
