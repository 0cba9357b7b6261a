/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_told.h - what a program tells of its run, beside the result.
 *   shim_steps.c    steps in messages, by name
 *   shim_printed.c  what given code printed in a failed run
 */
#ifndef WORKER_PROGRAM_TOLD_SHIM_TOLD_H
#define WORKER_PROGRAM_TOLD_SHIM_TOLD_H

#include "ipc/msg.h"

/* NULL, or the error in the message (static). */
const char *shim_step(struct str name, const char *state, struct str code,
		      struct str message);

void shim_forget_steps(void); /* the steps of a resident's run */

/* The beginning of the paths of both files; .stdout and .stderr follow. */
#define SHIM_PRINTED "/dev/shm/.printed"

/* Send what the code of a failed run printed. Async-signal-safe. */
void shim_tell_printed(void);
/* Remove both files, for a resident's next run. */
void shim_forget_printed(void);

#endif
