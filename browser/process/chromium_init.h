/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_init.h - PID 1 of Chromium's namespaces: reaps, ends with Chromium,
 * kills the process with the greatest use when the sum is too much, and reports
 * the kill. It sees only the /proc of its namespace. Where cgroups exist they
 * limit as well; PID 1 gives the reason, and works without cgroups.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_INIT_H
#define BROWSER_PROCESS_CHROMIUM_INIT_H

#include <stdint.h>
#include <sys/types.h>

struct chromium_init_limits {
	uint64_t memory_bytes; /* bytes of all processes together */
	uint64_t tasks;	       /* count of processes and threads */
};

enum chromium_init_kind {
	/*
	 * do the pages' processes have Chromium's own sandbox? USED: 0 or 1;
	 * sent when first known, and on a change
	 */
	CHROMIUM_INIT_HELD = 1,
	CHROMIUM_INIT_MEMORY,  /* sent before a process with USED bytes is
				  killed */
	CHROMIUM_INIT_TASKS,   /* sent before a process with USED threads is
				  killed */
	CHROMIUM_INIT_THREADS, /* the same for a page's process; ALLOWED is
				  per page */
	/*
	 * sent before a page with USED ms of CPU time is killed, as Chromium
	 * does not answer
	 */
	CHROMIUM_INIT_BUSY,
};

/* An order to PID 1: Chromium has not answered for so long. A packet. */
struct chromium_init_order {
	int64_t silent_ms;
};

struct chromium_init_event { /* an event of PID 1; a packet */
	uint32_t kind;
	uint64_t used, allowed; /* the process's figure; the bound for all */
};

/*
 * Run until CHROMIUM, a child, has ended; events go to TO (lent), orders come
 * from TO.
 */
_Noreturn void chromium_init_run(int to, pid_t chromium,
				 const struct chromium_init_limits *limits);

#endif
