/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_init.h - PID 1 of Chromium's world: it reaps, ends with Chromium, ends who
 * uses the most when all use too much, and tells of it. It sees the world's own
 * /proc and nothing else. Where there are cgroups they hold as well; this tells
 * why, and is there without them.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_INIT_H
#define BROWSER_PROCESS_CHROMIUM_INIT_H

#include <stdint.h>
#include <sys/types.h>

struct chromium_init_limits {
	uint64_t memory_bytes; /* of all in there together */
	uint64_t tasks;	       /* processes and threads */
};

enum chromium_init_kind {
	/*
	 * do pages' processes have Chromium's own sandbox? USED: 0 or 1; when
	 * it is first known, or changes
	 */
	CHROMIUM_INIT_HELD = 1,
	CHROMIUM_INIT_MEMORY, /* one that had USED bytes is about to be ended */
	CHROMIUM_INIT_TASKS,  /* one with USED threads */
};

struct chromium_init_event { /* one packet */
	uint32_t kind;
	uint64_t used, allowed; /* of one process; of all */
};

/* Until CHROMIUM, a child, has ended; notes go to TO (lent). */
_Noreturn void chromium_init_run(int to, pid_t chromium,
				 const struct chromium_init_limits *limits);

#endif
