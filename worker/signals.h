/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - cancelling, the CPU limit, and system calls that the sandbox
 * refuses. The last two end the worker with a report.
 */
#ifndef WORKER_SIGNALS_H
#define WORKER_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

int signals_install(void); /* TERM, XCPU, SYS. 0 or -errno */

bool signals_cancelled(void); /* SIGTERM came, and wait_wake() was called */
void signals_cancel(void);    /* as if it had come. Async-signal-safe */

void signals_set_cpu_ms(uint64_t ms); /* the limit in SIGXCPU's report */

#define SIGNALS_ARGS 6

/* A system call that was refused. */
struct signals_call {
	int nr;
	unsigned arch; /* AUDIT_ARCH_… */
	uint64_t args[SIGNALS_ARGS];
	/* name of the process that made it; NULL: our own */
	const char *process;
	uint32_t pid;
};

/* Send FAIL and _exit. Async-signal-safe. */
_Noreturn void signals_violation(const struct signals_call *c);

#endif
