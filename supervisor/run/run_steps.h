/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_steps.h - the steps of a run, as the supervisor saw them declared.
 *
 * pending -> running -> succeeded | failed; pending -> skipped. What a worker
 * says is checked against this; the run's outcome comes from here alone.
 */
#ifndef SUPERVISOR_RUN_RUN_STEPS_H
#define SUPERVISOR_RUN_RUN_STEPS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/msg.h"

#define STEPS_MAX 10000u /* of one run */

struct step {
	char *name;
	enum msg_step_state state;
	uint64_t attempts;
	uint64_t elapsed_ms;
	char *code;    /* FAILED */
	char *message; /* FAILED */
};

struct run_steps { /* all-zero: none */
	struct step *all;
	size_t n;
	size_t count[MSG_STEP_STATES]; /* how many are in each state */
};

void run_steps_fini(struct run_steps *s);

/*
 * Apply what a worker says. 0, or -EPROTO with the offence in *ERRMSG (static):
 * an index out of order, too many, a change that a step cannot make.
 */
int run_steps_apply(struct run_steps *s, const struct msg_step *m,
		    const char **errmsg);

/* The run is over: pending ones are skipped, running ones failed (CODE). */
void run_steps_close(struct run_steps *s, const char *code,
		     const char *message);

/* How many need no more work, of all. */
static inline size_t run_steps_done(const struct run_steps *s)
{
	return s->n - s->count[MSG_STEP_PENDING] - s->count[MSG_STEP_RUNNING];
}

const struct step *
run_steps_first_failed(const struct run_steps *s); /* or NULL */

/* [{name, status, attempts, elapsedMs, error?}]; the caller owns it. */
struct json_object *run_steps_view(const struct run_steps *s);

#endif
