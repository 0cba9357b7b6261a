/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - cancellation, the CPU limit, and system calls that the sandbox refuses. The
 * last two end the worker with a report.
 */
#ifndef WORKER_SIGNALS_H
#define WORKER_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

int signals_install(void); /* SIGTERM, SIGXCPU, SIGSYS. 0 or -errno */

bool signals_cancelled(void); /* after SIGTERM, which also called wait_wake() */
void signals_cancel(void);    /* as after SIGTERM. Async-signal-safe */
/* Have CALL, async-signal-safe, called by each SIGTERM; NULL: nothing. */
void signals_on_cancel(void (*call)(void));
void signals_forget_cancel(void); /* a new run of the same worker begins */

/* the limit to name in SIGXCPU's report */
void signals_set_cpu_ms(uint64_t ms);

#define SIGNALS_ARGS 6

/* A refused system call. */
struct signals_call {
	int nr;
	unsigned arch; /* a constant AUDIT_ARCH_ */
	uint64_t args[SIGNALS_ARGS];
	/* name of the calling process; NULL: the worker itself */
	const char *process;
	uint32_t pid;
};

/* The texts of a FAIL with SANDBOX_VIOLATION. */
struct signals_report {
	char message[128];
	char details[512]; /* an object */
};

/* Describe C. Async-signal-safe. */
void signals_describe(const struct signals_call *c, struct signals_report *r);

/* Send FAIL and _exit. Async-signal-safe. */
_Noreturn void signals_violation(const struct signals_call *c);

#endif
