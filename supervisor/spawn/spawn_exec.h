/* SPDX-License-Identifier: Apache-2.0 */
/* spawn_exec.h - starts a zygote or a helper program, by this process or by privsep. */
#ifndef SUPERVISOR_SPAWN_SPAWN_EXEC_H
#define SUPERVISOR_SPAWN_SPAWN_EXEC_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/spawn/cgroup.h"

/*
 * Start PATH (or privsep's path, if privsep runs) with ARGV: with an empty
 * environment, without blocked signals, and with no descriptors but /dev/null
 * and CONTROL (lent) as ZYGOTE_PROTO_CONTROL_FD. The child is a child of this
 * process in either case. 0 and *PID, or -errno.
 */
int spawn_exec_zygote(const char *path, char *const argv[], int control,
		      pid_t *pid);

/*
 * Start the helper program LEAF, paddock-browser or paddock-egress, at PATH with
 * ARGV, and END (lent) as descriptor 3: as a zygote, but with the variable PATH,
 * and with LOG (lent) as standard error. Where root is given up paddock-browser
 * has a separate uid, and paddock-egress is root's. 0 and *PID, or -errno.
 */
int spawn_exec_helper(enum cgroup_leaf leaf, const char *path,
		      char *const argv[], int end, int log, pid_t *pid);

/* Is PID a helper program? The child PID was reaped, and is none any more. */
bool spawn_exec_is_helper(pid_t pid);
void spawn_exec_ended(pid_t pid);

#endif
