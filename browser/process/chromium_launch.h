/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_launch.h - starts Chromium in user, pid, mount, ipc, uts and network
 * namespaces of its own, with our PID 1, which dies with this process and ends
 * all processes in the namespaces.
 *
 * Chromium's network is its own loopback, where only our socket listens. Its
 * files are those of chromium_rootfs.h.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_LAUNCH_H
#define BROWSER_PROCESS_CHROMIUM_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#include "browser/process/chromium_init.h"

/* the listener's port, on every address of the namespace */
#define CHROMIUM_LAUNCH_PORT 1080u

struct chromium_launched {
	pid_t pid;    /* PID 1's; killing PID 1 ends all */
	int to, from; /* Chromium's debugging pipes */
	int listener; /* accepts Chromium's connections, non-blocking */
	int watch;    /* the socket for packets of PID 1 */
};

struct chromium_launch_plan { /* the plan of a start, lent */
	char *const *argv;    /* the arguments; [0]: absolute, without links */
	struct chromium_init_limits limits;
};

/*
 * Start PLAN. 0 and *L, which is the caller's; or -errno, with the failed step
 * and a remedy in ERRMSG (SIZE bytes). Blocks during the set-up, but does not
 * wait until Chromium answers.
 */
int chromium_launch(struct chromium_launched *l,
		    const struct chromium_launch_plan *plan, char *errmsg,
		    size_t size);

#endif
