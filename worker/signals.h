/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - what may come from outside: cancelling, the CPU limit, and
 * the system call that the cage refuses. The last two are last words.
 */
#ifndef WORKER_SIGNALS_H
#define WORKER_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

int signals_install(void); /* TERM, XCPU, SYS. 0 or -errno */

bool signals_cancelled(void); /* SIGTERM came; wait_wake() was called then */
void signals_cancel(void);    /* as if it had. Async-signal-safe */

void signals_set_cpu_ms(uint64_t ms); /* what SIGXCPU's report says */

#define SIGNALS_ARGS 6

/* A system call that was refused. */
struct signals_call {
	int nr;
	unsigned arch; /* AUDIT_ARCH_… */
	uint64_t args[SIGNALS_ARGS];
	const char *process; /* whose it was; NULL: our own */
	uint32_t pid;
};

/* FAIL, and the end. Async-signal-safe. */
_Noreturn void signals_violation(const struct signals_call *c);

#endif
