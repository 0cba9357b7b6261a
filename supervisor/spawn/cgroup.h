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
/* The first groups are the zygotes' with their workers, by enum runtime_kind. */
enum cgroup_leaf { CGROUP_BROWSER = RUNTIMES, CGROUP_LEAVES };

struct cgroup_limits { /* of all processes of a group together */
	uint64_t memory_bytes;
	uint64_t processes; /* and threads */
};

struct cgroup_use { /* -1: not known */
	int64_t peak_bytes;
	int64_t cpu_user_us, cpu_system_us;
	int64_t oom_kills; /* processes that were killed for their memory */
	int64_t refused;   /* forks, of processes or threads */
};

#define CGROUP_USE_UNKNOWN ((struct cgroup_use){-1, -1, -1, -1, -1})

/* Make them; what dead servers left goes. Once, before privsep is forked. */
void cgroup_init(void);
enum cgroup_version cgroup_version(void);
const char *cgroup_name(void); /* "v2", "v1", "none" */
const char *cgroup_why(void);  /* why there is none, and the remedy; or "" */
/* Do cgroups divide CPU time among runs? The controller may be missing. */
bool cgroup_divides_cpu(void);

/* Bound LEAF; again when the configuration changes. */
void cgroup_limit(enum cgroup_leaf leaf, const struct cgroup_limits *limits);
/* The leaves' limits are theirs who will serve, once root has set the first. */
void cgroup_hand_over(void);
/* PID and what it forks from now on is in LEAF. 0 or -errno. */
int cgroup_place(enum cgroup_leaf leaf, pid_t pid);
/*
 * For who made the groups: as clone(2) with FLAGS, but the child is in LEAF before this
 * returns in it. That takes no time; cgroup_place() waits for all processors,
 * milliseconds. What it cannot do is left to that. The child's pid, 0 in the child, or
 * -errno.
 */
pid_t cgroup_clone(enum cgroup_leaf leaf, unsigned long flags);
/* Is it there, and is LEAF bounded? That is read back. */
bool cgroup_holds(enum cgroup_leaf leaf, pid_t pid);

/*
 * PID, who has forked nothing yet, alone is in SLOT's group, which is held to
 * LIMITS and has used nothing. 0 or -errno; -ENOTSUP: there are no cgroups.
 */
int cgroup_run_begin(uint32_t slot, const struct cgroup_limits *limits,
		     pid_t pid);
/*
 * SLOT's processes, which waited for their run, are held to LIMITS from now on, and
 * have used nothing. As above; to be moved again would take them milliseconds.
 */
int cgroup_run_again(uint32_t slot, const struct cgroup_limits *limits);
/* Return the CPU time (ms) of SLOT's processes so far, unwaited ones too; or -1. */
int64_t cgroup_run_cpu_ms(uint32_t slot);
/* What SLOT's processes used; whoever is left of them is killed. */
void cgroup_run_end(uint32_t slot, struct cgroup_use *use);

/*
 * For privsep, or for us when we keep root: make SLOT's group in TREE. A
 * descriptor that moves processes there, or -errno; -ENOENT: not in TREE.
 */
int cgroup_make_run(uint32_t slot, enum cgroup_tree tree);

/* Remove it all, when the last process is gone; for whoever made it. */
void cgroup_remove(void);

#endif
