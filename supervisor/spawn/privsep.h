/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privsep.h - a child process that keeps root's rights when the supervisor
 * drops root. The child does only the operations of this header, on the paths
 * given at the child's start. No byte of a client or a worker reaches the
 * child.
 */
#ifndef SUPERVISOR_SPAWN_PRIVSEP_H
#define SUPERVISOR_SPAWN_PRIVSEP_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/spawn/cgroup.h"

#define PRIVSEP_ARGS_MAX 65536 /* bytes of argv, with their NULs */

struct privsep_paths { /* lent until the fork; NULL: there is none */
	/* In privsep, with root's rights: may a zygote be started so? */
	bool (*may_start)(void *arg, char *const argv[]);
	void *arg;
	const char *worker;
	const char *browser; /* paddock-browser */
	const char *socket;
	const char *state;
	const char *log;
	const char *audit;
	int answer_ms; /* that an answer is waited for; 0: as usual, 20,000 */
};

/* Fork it; it ends with us. 0 or -errno. */
int privsep_start(const struct privsep_paths *paths);
pid_t privsep_pid(void); /* a child of ours; 0: there is none */
/* Did root start us, so that workers are users of their own? */
bool privsep_workers_are_others(void);
/*
 * Return why privsep does nothing for this process now, found without waiting;
 * NULL: it answers, or there is none.
 */
const char *privsep_trouble(void);
void privsep_release(void); /* let it end; it is still to be reaped */

/*
 * The requests. Each is 0 or -errno: -ENOTCONN without privsep, -EPERM for a
 * path that it was not started with, -ETIMEDOUT when it does not answer.
 */

/*
 * Start the worker program as a child of this process; see spawn_exec.h. -EPERM
 * when privsep's own view of the configuration does not allow ARGV.
 */
int privsep_exec(char *const argv[], int control, pid_t *pid);
/*
 * The same of paddock-browser, as the user uid_range_browser(), with CONTROL
 * and LOG (lent) as its socket and its standard error; see spawn_exec.h.
 */
int privsep_exec_broker(char *const argv[], int control, int log, pid_t *pid);
/* Open the log or the audit file for appending: the descriptor. */
int privsep_open_log(const char *path);
int privsep_unlink_socket(const char *path);
/* privs_give_state(), for the state folder. */
int privsep_give_state(void);
/* cgroup_make_run(): its descriptor. It removes all cgroups at its end. */
int privsep_make_run(uint32_t slot, enum cgroup_tree tree);

#endif
