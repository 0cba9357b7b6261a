/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_pages.h - the processes of pages, seen by Chromium's PID 1 at each
 * look: threads, CPU time, priority, and the busiest. Pages of different
 * sessions share no process, so a page's work slows the pages of its own
 * requestor first.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_PAGES_H
#define BROWSER_PROCESS_CHROMIUM_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* threads of a page's process; more are too many */
#define CHROMIUM_PAGES_THREADS 100u
#define CHROMIUM_PAGES_WINDOW_MS 8000
#define CHROMIUM_PAGES_BUSY_MS 1000 /* CPU time in the window */

struct chromium_pages_one {
	pid_t pid; /* the process; 0: no page */
	uint64_t threads, cpu_ms;
};

/*
 * chromium_pages_look() begins a look at NOW_MS; chromium_pages_saw() records
 * PID with its threads and its CPU time so far. A process unseen in a look is
 * forgotten at the next. The priority of a new process is lowered, of a busy
 * process more.
 */
void chromium_pages_look(int64_t now_ms);
void chromium_pages_saw(pid_t pid, uint64_t threads, uint64_t cpu_ms);

/* Return a page's process with too many threads, or .pid 0. */
struct chromium_pages_one chromium_pages_crowded(void);

/*
 * Return the process with the most CPU time in the last MS (at most the
 * window), if busy; else .pid 0.
 */
struct chromium_pages_one chromium_pages_busiest(int64_t ms);

#endif
