/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_process_log.h - what paddock-browser writes to its standard error, as lines of
 * our log: it has no descriptor of the log itself. They are a claim as all that
 * it says, and bounded: so many a second, so long.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_PROCESS_LOG_H
#define SUPERVISOR_BROWSER_BROWSER_PROCESS_LOG_H

#include <event2/event.h>

/* bytes; the rest of a longer one is dropped */
#define BROWSER_PROCESS_LOG_LINE 2048
#define BROWSER_PROCESS_LOG_RATE 100   /* lines a second, for long */
#define BROWSER_PROCESS_LOG_BURST 1000 /* and at once */

struct browser_process_log;

struct browser_process_log *browser_process_log_new(struct event_base *base);
void browser_process_log_free(struct browser_process_log *l); /* NULL is fine */

/* For one that is about to start: its end, the caller's; or -errno. */
int browser_process_log_open(struct browser_process_log *l);

#endif
