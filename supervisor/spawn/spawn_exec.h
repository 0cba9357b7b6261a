/* SPDX-License-Identifier: Apache-2.0 */
/* spawn_exec.h - starts a zygote or paddock-browser, by this process or by privsep. */
#ifndef SUPERVISOR_SPAWN_SPAWN_EXEC_H
#define SUPERVISOR_SPAWN_SPAWN_EXEC_H

#include <sys/types.h>

/*
 * Start PATH (or privsep's path, if privsep runs) with ARGV: with an empty
 * environment, without blocked signals, and with no descriptors but /dev/null
 * and CONTROL (lent) as ZYGOTE_PROTO_CONTROL_FD. The child is a child of this
 * process in either case. 0 and *PID, or -errno.
 */
int spawn_exec_zygote(const char *path, char *const argv[], int control,
		      pid_t *pid);

/*
 * Start paddock-browser at PATH with ARGV, and END (lent) as BROWSER_PROTO_FD:
 * as a zygote, but with the variable PATH, and with LOG (lent) as standard
 * error; where root is given up, under a separate uid. 0 and *PID, or -errno.
 */
int spawn_exec_browser(const char *path, char *const argv[], int end, int log,
		       pid_t *pid);

#endif
