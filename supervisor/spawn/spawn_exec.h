/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn_exec.h - the start of a zygote or of paddock-browser: by this process,
 * or by privsep.
 */
#ifndef SUPERVISOR_SPAWN_SPAWN_EXEC_H
#define SUPERVISOR_SPAWN_SPAWN_EXEC_H

#include <sys/types.h>

/*
 * Start PATH (privsep's, if there is one) with ARGV: an empty environment,
 * no signal blocked, and no descriptor but /dev/null and, as ZYGOTE_PROTO_CONTROL_FD,
 * CONTROL (lent). Its parent is this process in either case. 0 and *PID, or
 * -errno.
 */
int spawn_exec_zygote(const char *path, char *const argv[], int control,
		      pid_t *pid);

/*
 * Start paddock-browser at PATH with ARGV, and END (lent) as its BROWSER_PROTO_FD: as
 * a zygote, but with PATH in its environment, and LOG (lent) as its standard
 * error; where root is given up, as a user of its own. 0 and *PID, or -errno.
 */
int spawn_exec_browser(const char *path, char *const argv[], int end, int log,
		       pid_t *pid);

#endif
