/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_pages.h - the processes of pages, seen by Chromium's PID 1 at each
 * look: threads, CPU time, priority, and the busiest. Chromium does not tell
 * which process is of which session, but sessions share none: pages that used
 * most lately yield to those that used little.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_PAGES_H
#define BROWSER_PROCESS_CHROMIUM_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* threads of a page's process; more are too many */
#define CHROMIUM_PAGES_THREADS 100u
#define CHROMIUM_PAGES_WINDOW_MS 8000
#define CHROMIUM_PAGES_BUSY_MS 1000 /* CPU time in the window, at least */
/* Priorities; Chromium itself has 5, as it has to answer whatever pages do. */
#define CHROMIUM_PAGES_NICE 10
#define CHROMIUM_PAGES_NICE_BUSY 19

struct chromium_pages_one {
	pid_t pid; /* the process; 0: no page */
	uint64_t threads, cpu_ms;
};

/* How many CPUs pages share, and whether RLIMIT_NICE lets a priority be raised. */
void chromium_pages_init(unsigned cpus, bool raises);

/*
 * chromium_pages_look() begins a look at NOW_MS; chromium_pages_saw() records
 * PID with its threads and its CPU time so far. A process unseen in a look is
 * forgotten at the next. The priority of a new process is lowered, of a busy
 * process more, and raised again when it has been busy no more for a while.
 */
void chromium_pages_look(int64_t now_ms);
void chromium_pages_saw(pid_t pid, uint64_t threads, uint64_t cpu_ms);
/* Record a process that works for all pages: the GPU's, the network's. */
void chromium_pages_saw_helper(pid_t pid, uint64_t cpu_ms);

/* Return the priority that was set of PID; 0: none. */
int chromium_pages_nice(pid_t pid);

/* Return a page's process with too many threads, or .pid 0. */
struct chromium_pages_one chromium_pages_crowded(void);

/*
 * Return the page's process with the most CPU time in the last MS (at most the
 * window), if busy; else .pid 0, also when helpers had more than all pages.
 */
struct chromium_pages_one chromium_pages_busiest(int64_t ms);

#endif
