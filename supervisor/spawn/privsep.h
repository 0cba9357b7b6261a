/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privsep.h - a child process that keeps root's rights when the supervisor drops root.
 * The child does only the operations of this header, on the paths given at the child's
 * start. No byte of a client or a worker reaches the child.
 */
#ifndef SUPERVISOR_SPAWN_PRIVSEP_H
#define SUPERVISOR_SPAWN_PRIVSEP_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/spawn/cgroup.h"

#define PRIVSEP_ARGS_MAX 65536 /* bytes of argv, with the NULs */

struct privsep_paths { /* lent until the fork; NULL: none */
	/* Called in privsep, with root's rights: may a zygote be started with ARGV? */
	bool (*may_start)(void *arg, char *const argv[]);
	/* likewise for paddock-egress; NULL: without arguments alone */
	bool (*may_start_egress)(void *arg, char *const argv[]);
	void *arg;
	const char *worker;
	const char *browser; /* paddock-browser */
	const char *egress;  /* paddock-egress */
	const char *socket;
	const char *state;
	const char *log;
	const char *audit;
	int answer_ms; /* timeout of an answer; 0: the default, 20,000 */
};

/* Fork privsep, which ends with this process. 0 or -errno. */
int privsep_start(const struct privsep_paths *paths);
pid_t privsep_pid(void); /* a child of this process; 0: none */
/* Did root start the server, so that workers have uids of their own? */
bool privsep_workers_are_others(void);
/*
 * Return why privsep is useless for this process now, without waiting; NULL:
 * privsep answers, or there is none.
 */
const char *privsep_trouble(void);
/* let privsep end; the caller must still reap privsep */
void privsep_release(void);

/*
 * The requests return 0 or -errno: -ENOTCONN without privsep, -EPERM for a path
 * that was not given at the start, -ETIMEDOUT without an answer.
 */

/*
 * Start the worker program as a child of this process; see spawn_exec.h. -EPERM
 * when privsep's own view of the configuration does not allow ARGV.
 */
int privsep_exec(char *const argv[], int control, pid_t *pid);
/*
 * Start the helper program LEAF: paddock-browser as the user uid_range_browser(),
 * paddock-egress as root, with CONTROL and LOG (lent) as socket and standard
 * error; see spawn_exec.h.
 */
int privsep_exec_helper(enum cgroup_leaf leaf, char *const argv[], int control,
			int log, pid_t *pid);
/* Open the log or the audit file for appending: the descriptor. */
int privsep_open_log(const char *path);
int privsep_unlink_socket(const char *path);
/* privs_give_state(), for the state folder. */
int privsep_give_state(void);
/* cgroup_make_run(): the descriptor. Privsep removes all cgroups at privsep's end. */
int privsep_make_run(uint32_t slot, enum cgroup_tree tree);

#endif
