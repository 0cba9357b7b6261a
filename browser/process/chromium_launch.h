/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_launch.h - Chromium in user, pid, mount, ipc, uts and network
 * namespaces of its own, with a PID 1 of ours that dies with this process, and
 * everything in them with it.
 *
 * Its network is a loopback of its own; only a socket of ours listens there.
 * Its files are those of chromium_rootfs.h.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_LAUNCH_H
#define BROWSER_PROCESS_CHROMIUM_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#include "browser/process/chromium_init.h"

/* of every address in the namespace: we accept */
#define CHROMIUM_LAUNCH_PORT 1080u

struct chromium_launched {
	pid_t pid;    /* PID 1's; kill it, and nothing is left */
	int to, from; /* Chromium's debugging pipes */
	int listener; /* accepts what it connects to, non-blocking */
	int watch;    /* events of PID 1, packets */
};

struct chromium_launch_plan { /* all lent */
	char *const *argv;    /* [0]: absolute, without links */
	struct chromium_init_limits limits;
};

/*
 * Start PLAN. 0 and *L, which is the caller's; or -errno and in ERRMSG (SIZE
 * bytes) what failed and what would help. Blocks while it is set up, not
 * until it works.
 */
int chromium_launch(struct chromium_launched *l,
		    const struct chromium_launch_plan *plan, char *errmsg,
		    size_t size);

#endif
