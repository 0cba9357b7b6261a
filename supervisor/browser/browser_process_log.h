/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_process_log.h - relays the standard error of paddock-browser to the
 * log, of which the program has no descriptor. The lines are claims like the
 * program's answers, and bounded in rate and length.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_PROCESS_LOG_H
#define SUPERVISOR_BROWSER_BROWSER_PROCESS_LOG_H

#include <event2/event.h>

/* bytes; the rest of a longer line is dropped */
#define BROWSER_PROCESS_LOG_LINE 2048
#define BROWSER_PROCESS_LOG_RATE 100   /* lines a second, on the average */
#define BROWSER_PROCESS_LOG_BURST 1000 /* lines at once */

struct browser_process_log;

struct browser_process_log *browser_process_log_new(struct event_base *base);
void browser_process_log_free(struct browser_process_log *l); /* NULL is fine */

/*
 * Open a pipe for a program about to start. Returns its end, the caller's, or
 * -errno.
 */
int browser_process_log_open(struct browser_process_log *l);

#endif
