/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_log.h - relays the standard error of a helper program, paddock-browser
 * or paddock-egress, to the log, of which the program has no descriptor. The
 * lines are claims like the program's answers, and bounded in rate and length.
 */
#ifndef SUPERVISOR_HELPER_HELPER_LOG_H
#define SUPERVISOR_HELPER_HELPER_LOG_H

#include <event2/event.h>

/* bytes; the rest of a longer line is dropped */
#define HELPER_LOG_LINE 2048
#define HELPER_LOG_RATE 100   /* lines a second, on the average */
#define HELPER_LOG_BURST 1000 /* lines at once */

struct helper_log;

/* The log names PART (lent for good) before the lines. */
struct helper_log *helper_log_new(struct event_base *base, const char *part);
void helper_log_free(struct helper_log *l); /* NULL is fine */

/*
 * Open a pipe for a program about to start. Returns its end, the caller's, or
 * -errno.
 */
int helper_log_open(struct helper_log *l);

#endif
