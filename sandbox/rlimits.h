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

/* malloc's overhead and the stack, on top of the memory that was requested. */
#define RLIMITS_SLACK_BYTES (RLIMITS_STACK_BYTES + (16u << 20))

/*
 * In the zygote, while it sees /proc: the limits that it can work with itself,
 * and bare_bytes. 0 or -errno, which is also in err[SANDBOX_RLIMITS].
 */
int rlimits_zygote(struct sandbox *sb);

/*
 * In a worker: the rest, and SIGXCPU after cpu_ms of CPU time. SIGKILL follows
 * a second later if its handler has not ended the run.
 */
int rlimits_worker(const struct sandbox *sb, const struct sandbox_worker *w);

/* In the zygote of programs: those that fit a shim and its program both. */
int rlimits_zygote_program(struct sandbox *sb);

/*
 * In the child that creates the user namespace of all workers: they may have at
 * most a part of the pending signals of the user who started us.
 */
int rlimits_userns(void);

/*
 * In a program's process, before exec. Each counts for one process, but for
 * processes and pending signals, which count for a run; its shim watches the
 * total of everything else. It is nicer than its shim, and cannot undo that.
 */
int rlimits_program(const struct sandbox_program *p);

/* At most so many bytes of addresses. 0 or -errno. */
int rlimits_addresses(uint64_t bytes);

/* And that of open files, later: descriptors may have higher numbers. */
int rlimits_program_files(const struct sandbox_program *p);

/*
 * The address space of W: the memory that was requested on top of a bare
 * worker's, a quarter of it for malloc's overhead, and RLIMITS_SLACK_BYTES. The
 * runtime's own allocator holds a run to the request exactly; this holds the
 * worker.
 */
uint64_t rlimits_address_space(const struct sandbox *sb,
			       const struct sandbox_worker *w);

/* Are those limits in force, and can they not be raised? */
bool rlimits_hold(const struct sandbox *sb, const struct sandbox_worker *w);

#endif
