/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - timeouts of steps. One ITIMER_REAL serves all timers. When a timer is due,
 * the signal handler calls the function of timers_on_due(); a timer that runs on for the
 * grace ends the worker from the handler, which no template can prevent. While the
 * supervisor has the process stopped no time passes: SIGCONT carries the duration of the
 * stop.
 */
#ifndef WORKER_TIMERS_H
#define WORKER_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#define TIMERS_MAX 1024 /* at once */

int timers_install(void); /* handlers of SIGALRM and SIGCONT. 0 or -errno */

/* DUE must be async-signal-safe. */
void timers_on_due(void (*due)(void));

/*
 * Start a timer that is due at DUE_US (clock_mono_us()) and ends the worker GRACE_US
 * later. DETAILS of the FAIL is borrowed until the timer is stopped. Returns the timer,
 * or -ENOSPC when TIMERS_MAX timers are running.
 */
int timers_start(int64_t due_us, int64_t grace_us, const char *details);
void timers_stop(int timer);
bool timers_due(int timer);

/* The total time for which the process was stopped, which counts for no timer. */
int64_t timers_rested_us(void);

void timers_off(void); /* no timer is due from now on */

#endif
