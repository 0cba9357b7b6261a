/* SPDX-License-Identifier: Apache-2.0 */
/* rlimits.h - setrlimit(2), and a timer for the CPU time of a worker. */
#ifndef SANDBOX_RLIMITS_H
#define SANDBOX_RLIMITS_H

#include "sandbox/sandbox_types.h"

/* of a Lua worker: /dev/null three times, and the socket of the run */
#define RLIMITS_FILES 4u

/* POSIX timers and queued signals of a program's run; timer_create(2). */
#define RLIMITS_SIGNALS 256u

/* Lua stops C recursion at less than half of this size. */
#define RLIMITS_STACK_BYTES (2u << 20)

/* malloc's overhead and the stack, in addition to the requested memory. */
#define RLIMITS_SLACK_BYTES (RLIMITS_STACK_BYTES + (16u << 20))

/*
 * In the zygote, while /proc is visible: set the limits that the zygote itself can run
 * with, and bare_bytes. 0 or -errno, which also stands in err[SANDBOX_RLIMITS].
 */
int rlimits_zygote(struct sandbox *sb);

/*
 * In a worker: set the remaining limits, and arm SIGXCPU after cpu_ms of CPU
 * time. SIGKILL follows a second later unless the handler has ended the run.
 */
int rlimits_worker(const struct sandbox *sb, const struct sandbox_worker *w);

/* In the zygote of programs: set the limits that suit both a shim and a program. */
int rlimits_zygote_program(struct sandbox *sb);

/*
 * In the child that creates the user namespace of all workers: limit workers to
 * a part of the pending signals of the user who started paddockd.
 */
int rlimits_userns(void);

/*
 * In the process of a program, before exec. Each limit counts for one process,
 * except processes and pending signals, which count for the whole run; the shim
 * watches the totals of the other resources. The program gets a lower priority
 * than the shim, and cannot raise the priority again.
 */
int rlimits_program(const struct sandbox_program *p);

/* Limit the address space to BYTES. 0 or -errno. */
int rlimits_addresses(uint64_t bytes);

/*
 * Limit open files. Called last, since descriptors may still have higher numbers before.
 */
int rlimits_program_files(const struct sandbox_program *p);

/*
 * The address space of W: the size of an idle worker, the requested memory, a
 * quarter of the requested memory for malloc's overhead, and
 * RLIMITS_SLACK_BYTES. The allocator of the runtime holds a run exactly to the
 * request; the address space limits the whole worker.
 */
uint64_t rlimits_address_space(const struct sandbox *sb,
			       const struct sandbox_worker *w);

/* Are the limits of rlimits_worker() in force, and is raising the limits impossible? */
bool rlimits_hold(const struct sandbox *sb, const struct sandbox_worker *w);

#endif
