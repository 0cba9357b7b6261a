/* SPDX-License-Identifier: Apache-2.0 */
/* clone.h - a sandboxed worker, cloned from the zygote. */
#ifndef WORKER_CLONE_H
#define WORKER_CLONE_H

#include <sys/types.h>

#include "sandbox/sandbox_program.h"
#include "sandbox/sandbox.h"

/* The parent of a worker. */
enum clone_caller {
	/* reaps the worker, which dies with the supervisor */
	CLONE_OF_SUPERVISOR,
	CLONE_OF_ZYGOTE, /* for the self-test */
};

/* The function of a worker in the sandbox; only the filter is not in force yet. */
typedef void clone_life(const struct sandbox *sb,
			const struct sandbox_worker *w);

/*
 * Clone a worker for W, whose run_fd is lent: the worker has a copy. The worker enters
 * the sandbox, calls LIFE, and calls _exit. A worker that cannot be sandboxed exits with
 * ZYGOTE_PROTO_EXIT_UNCAGED plus the layer. Returns the pid, or -errno.
 */
pid_t clone_worker(const struct sandbox *sb, const struct sandbox_worker *w,
		   enum clone_caller parent, clone_life *life);

/*
 * As clone_worker(), for a program's worker: enters the sandbox for P, then calls LIFE
 * with /proc as given by sandbox_enter_program().
 */
typedef void clone_program_life(const struct sandbox *sb,
				const struct sandbox_program *p, int proc);
pid_t clone_program(const struct sandbox *sb, struct sandbox_program *p,
		    enum clone_caller parent, clone_program_life *life);

#endif
