/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - timeouts of steps.
 *
 * One ITIMER_REAL serves them all. When a timer is due, the function given to
 * timers_on_due() is called from the signal handler; a timer that runs on for
 * its grace after that ends the worker from the handler, which no template can
 * prevent. While the supervisor has this process stopped no time passes: with
 * SIGCONT it says how long that was.
 */
#ifndef WORKER_TIMERS_H
#define WORKER_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#define TIMERS_MAX 1024 /* at once */

int timers_install(void); /* handlers of SIGALRM and SIGCONT. 0 or -errno */

/* DUE is async-signal-safe. */
void timers_on_due(void (*due)(void));

/*
 * Start one that is due at DUE_US (clock_mono_us()) and ends the worker
 * GRACE_US later. DETAILS, the FAIL's, is borrowed until the timer is stopped.
 * The timer, or -ENOSPC when TIMERS_MAX are running.
 */
int timers_start(int64_t due_us, int64_t grace_us, const char *details);
void timers_stop(int timer);
bool timers_due(int timer);

/* For so long this process was stopped in all, which is nobody's time. */
int64_t timers_rested_us(void);

void timers_off(void); /* no timer is due from now on */

#endif
