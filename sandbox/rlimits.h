/* SPDX-License-Identifier: Apache-2.0 */
/* rlimits.h - setrlimit(2), and a timer on a worker's CPU time. */
#ifndef SANDBOX_RLIMITS_H
#define SANDBOX_RLIMITS_H

#include "sandbox/sandbox_types.h"

#define RLIMITS_FILES 4u /* a worker's: null three times, the run's socket */

/* POSIX timers and queued signals of a program's run; timer_create(2). */
#define RLIMITS_SIGNALS 256u

/* Lua's C recursion stops itself at less than half of this. */
#define RLIMITS_STACK_BYTES (2u << 20)

/* malloc's waste and the stack, on top of what was ordered. */
#define RLIMITS_SLACK_BYTES (RLIMITS_STACK_BYTES + (16u << 20))

/*
 * In the zygote, while /proc is there: those limits that it can live with,
 * and bare_bytes. 0 or -errno, which is also in err[SANDBOX_RLIMITS].
 */
int rlimits_zygote(struct sandbox *sb);

/*
 * In a worker: the rest, and SIGXCPU after cpu_ms of CPU time; a handler
 * that does not end the run is cut short by SIGKILL a second later.
 */
int rlimits_worker(const struct sandbox *sb, const struct sandbox_worker *w);

/* In the zygote of programs: those that fit a shim and its program both. */
int rlimits_zygote_program(struct sandbox *sb);

/*
 * In the child that makes the user namespace of all: it may be charged with at
 * most a part of the signals that may wait for who started us. 0 or -errno.
 */
int rlimits_userns(void);

/*
 * In a program's process, before exec. Each counts for one process alone, but
 * for those of processes and of pending signals, which count a run's; what it
 * has in all else is watched by its shim. It is nicer than its shim, for good.
 */
int rlimits_program(const struct sandbox_program *p);

/* And that of open files: what is open by then may have higher numbers. */
int rlimits_program_files(const struct sandbox_program *p);

/*
 * The address space that W gets: what was ordered on top of a bare worker,
 * and a quarter and RLIMITS_SLACK_BYTES for malloc's waste. The runtime's own
 * allocator holds a run to the order exactly; this holds the worker.
 */
uint64_t rlimits_address_space(const struct sandbox *sb,
			       const struct sandbox_worker *w);

/* Do the limits in force match those, and can they not be raised? */
bool rlimits_hold(const struct sandbox *sb, const struct sandbox_worker *w);

#endif
