/* SPDX-License-Identifier: Apache-2.0 */
/* clone.h - from a clone of the zygote to a caged worker. */
#ifndef WORKER_CLONE_H
#define WORKER_CLONE_H

#include <sys/types.h>

#include "sandbox/sandbox_program.h"
#include "sandbox/sandbox.h"

/* Whose child the worker is. */
enum birth_parent {
	BIRTH_OF_SUPERVISOR, /* who reaps it, and whose death is its own */
	BIRTH_OF_ZYGOTE,     /* the self-test's */
};

/* What a caged worker does once only the filter is missing. */
typedef void birth_life(const struct sandbox *sb,
			const struct sandbox_worker *w);

/*
 * Clone a worker for W, which lends its run_fd: the worker has its own copy.
 * In the worker: the cage, then LIFE, then _exit. One that cannot be caged
 * exits with CREW_EXIT_UNCAGED plus the layer. The pid, or -errno.
 */
pid_t birth(const struct sandbox *sb, const struct sandbox_worker *w,
	    enum birth_parent parent, birth_life *life);

/*
 * Clone a program's worker for P, as above: its cage, then LIFE with /proc as
 * sandbox_enter_program() gave it.
 */
typedef void birth_program_life(const struct sandbox *sb,
				const struct sandbox_program *p, int proc);
pid_t birth_program(const struct sandbox *sb, struct sandbox_program *p,
		    enum birth_parent parent, birth_program_life *life);

birth_life birth_serve; /* seal, then serve the run */

#endif
