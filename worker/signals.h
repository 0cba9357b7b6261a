/*
 * signals.h - what may come from outside: cancelling, the CPU limit, and
 * the system call that the cage refuses. The last two are last words.
 */
#ifndef WORKER_SIGNALS_H
#define WORKER_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

int signals_install(void); /* TERM, XCPU, SYS. 0 or -errno */

bool signals_cancelled(void); /* SIGTERM came; nap_wake() was called then */

void signals_set_cpu_ms(uint64_t ms); /* what SIGXCPU's report says */

#endif
