/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the steps of the run: declared, running and ended steps, with timeouts. Each
 * change is sent to the supervisor at once.
 */
#ifndef WORKER_STEPS_H
#define WORKER_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEPS_MAX 10000u /* in a run */
#define STEPS_NONE UINT32_MAX

/*
 * Declare COUNT steps inside step AROUND (STEPS_NONE: no step). NAME is a valid name;
 * several steps get the names NAME[1], NAME[2] and so on. Returns the index of the first
 * step, or STEPS_NONE above STEPS_MAX steps.
 */
uint32_t steps_declare(const char *name, size_t len, uint32_t count,
		       uint32_t around);

uint32_t steps_around(uint32_t step);

/*
 * Begin the next attempt of STEP. With TIMEOUT_MS > 0 the attempt times out; after the
 * run's cancel grace the worker ends with DETAILS (borrowed until the attempt ends). 0,
 * or -ENOSPC: too many timers.
 */
int steps_begin(uint32_t step, int64_t timeout_ms, const char *details);

/* Has STEP, or a step around STEP, timed out? */
bool steps_timed_out(uint32_t step);
bool steps_itself_timed_out(uint32_t step);

void steps_pause(uint32_t step); /* the attempt is over; another may follow */
void steps_succeed(uint32_t step);
void steps_fail(uint32_t step, const char *code, const char *message,
		size_t len);
void steps_skip(uint32_t step);

unsigned steps_attempts(uint32_t step);

/* The run is over: skip pending steps, fail running steps. */
void steps_close(void);
void steps_forget(void); /* a new run of the same worker has no steps */

void steps_set_grace_ms(int64_t ms);

#endif
