/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h - one run of a program: PID 1 of its namespaces, and trusted.
 *
 * The shim alone holds the run's socket. It starts the program, feeds and
 * hears it by pipes, reports what it says and tries, ends all that it has
 * started, and dies with it: then the kernel ends whatever is left.
 *
 *   shim.c        its life, and the loop
 *   shim_pipes.c  what goes to the program, and comes from it
 *   shim_exit.c    how it all ends
 *   shim_child.c  from a fork of the shim to the program
 *   shim_lines.c  what the program says on descriptor 3
 *   shim_steps.c  the steps among that, by name
 *   shim_questions.c   the questions among that, and their answers
 *   shim_files.c  files of the program's that become artifacts
 *   shim_output.c    what it left in out/, when it has ended
 *   shim_watch.c  what all its processes use together
 */
#ifndef WORKER_PROGRAM_SHIM_H
#define WORKER_PROGRAM_SHIM_H

#include "sandbox/sandbox_program.h"

int shim_prepare(void); /* in the zygote: handlers. 0 or -errno */

/*
 * In a caged worker: send READY, take RUN, run the program, send RESULT or
 * FAIL, and _exit. PROC is what sandbox_enter_program() gave.
 */
_Noreturn void shim_serve(const struct sandbox *sb,
			  const struct sandbox_program *p, int proc);

#endif
