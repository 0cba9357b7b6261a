/* SPDX-License-Identifier: Apache-2.0 */
/* clone.h - a sandboxed worker, cloned from the zygote. */
#ifndef WORKER_CLONE_H
#define WORKER_CLONE_H

#include <sys/types.h>

#include "sandbox/sandbox_program.h"
#include "sandbox/sandbox.h"

/* Whose child the worker is. */
enum clone_caller {
	CLONE_OF_SUPERVISOR, /* it reaps the worker, which dies with it */
	CLONE_OF_ZYGOTE,     /* the self-test's */
};

/* What a worker does in its sandbox; only the filter is not in force yet. */
typedef void clone_life(const struct sandbox *sb,
			const struct sandbox_worker *w);

/*
 * Clone a worker for W, which lends its run_fd: the worker has its own copy. In
 * the worker: the sandbox, then LIFE, then _exit. One that cannot be sandboxed
 * exits with ZYGOTE_PROTO_EXIT_UNCAGED plus the layer. The pid, or -errno.
 */
pid_t clone_worker(const struct sandbox *sb, const struct sandbox_worker *w,
		   enum clone_caller parent, clone_life *life);

/*
 * Clone a program's worker for P, as above: its sandbox, then LIFE with /proc
 * as sandbox_enter_program() gave it.
 */
typedef void clone_program_life(const struct sandbox *sb,
				const struct sandbox_program *p, int proc);
pid_t clone_program(const struct sandbox *sb, struct sandbox_program *p,
		    enum clone_caller parent, clone_program_life *life);

#endif
