/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_init.h - PID 1 of Chromium's namespaces: it reaps, ends with
 * Chromium, kills the process that uses the most when all use too much, and
 * reports that. It sees only the /proc of its namespace. Where there are
 * cgroups they limit as well; this gives the reason, and works without them.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_INIT_H
#define BROWSER_PROCESS_CHROMIUM_INIT_H

#include <stdint.h>
#include <sys/types.h>

struct chromium_init_limits {
	uint64_t memory_bytes; /* of all processes together */
	uint64_t tasks;	       /* processes and threads */
};

enum chromium_init_kind {
	/*
	 * do the pages' processes have Chromium's own sandbox? USED: 0 or 1;
	 * sent when it is first known, or changes
	 */
	CHROMIUM_INIT_HELD = 1,
	CHROMIUM_INIT_MEMORY, /* one with USED bytes is about to be killed */
	CHROMIUM_INIT_TASKS,  /* one with USED threads */
};

struct chromium_init_event { /* one packet */
	uint32_t kind;
	uint64_t used, allowed; /* of one process; of all */
};

/* Run until CHROMIUM, a child, has ended; events go to TO (lent). */
_Noreturn void chromium_init_run(int to, pid_t chromium,
				 const struct chromium_init_limits *limits);

#endif
