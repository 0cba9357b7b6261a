/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the steps of this run: what was declared, what runs, and for how
 * long it may. Each change is sent to the supervisor at once.
 */
#ifndef WORKER_STEPS_H
#define WORKER_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEPS_MAX 10000u /* in a run */
#define STEPS_NONE UINT32_MAX

/*
 * Declare COUNT steps inside step AROUND (STEPS_NONE: inside none). NAME is a
 * valid name; several become NAME[1], NAME[2], … The first one's index, or
 * STEPS_NONE when there would be more than STEPS_MAX.
 */
uint32_t steps_declare(const char *name, size_t len, uint32_t count,
		       uint32_t around);

uint32_t steps_around(uint32_t step);

/*
 * Begin the next attempt of STEP. With TIMEOUT_MS > 0 it times out after that;
 * the run's cancel grace later the worker ends with DETAILS (borrowed until the
 * attempt ends). 0, or -ENOSPC: too many timers.
 */
int steps_begin(uint32_t step, int64_t timeout_ms, const char *details);

/* Has STEP, or a step that it is inside of, timed out? */
bool steps_timed_out(uint32_t step);
bool steps_itself_timed_out(uint32_t step);

void steps_pause(uint32_t step); /* the attempt is over; another may follow */
void steps_succeed(uint32_t step);
void steps_fail(uint32_t step, const char *code, const char *message,
		size_t len);
void steps_skip(uint32_t step);

unsigned steps_attempts(uint32_t step);

/* The run is over: steps that are pending are skipped, running ones fail. */
void steps_close(void);

void steps_set_grace_ms(int64_t ms);

#endif
