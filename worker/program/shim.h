/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h - one run of a program: PID 1 of its namespaces, and trusted.
 *
 * The shim alone holds the run's socket. It starts the program, feeds and reads
 * it by pipes, reports its messages and its forbidden calls, ends all processes
 * of the run, and exits with them: then the kernel kills whatever is left.
 *   shim.c            its life, and the loop
 *   shim_pipes.c      the program's pipes
 *   shim_exit.c       the end of the run
 *   shim_given.c      the files that the run is given
 *   shim_child.c      from a fork of the shim to the program
 *   shim_lines.c      messages on the program's descriptor 3
 *   shim_steps.c      the steps among them, by name
 *   shim_questions.c  the questions among them, and their answers
 *   shim_files.c      files of the program's that become artifacts
 *   shim_output.c     files in out/, when the program has ended
 *   shim_cpu.c        the CPU time of all processes
 *   shim_watch.c      what all processes use together
 */
#ifndef WORKER_PROGRAM_SHIM_H
#define WORKER_PROGRAM_SHIM_H

#include "sandbox/sandbox_program.h"

int shim_prepare(void); /* in the zygote: handlers. 0 or -errno */

/*
 * In a sandboxed worker: send READY, receive RUN, run the program, send RESULT
 * or FAIL, and _exit. PROC is what sandbox_enter_program() gave.
 */
_Noreturn void shim_serve(const struct sandbox *sb,
			  const struct sandbox_program *p, int proc);

#endif
