/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_steps.h - the steps of a run, as its worker declared them.
 *
 * Changes: pending -> running -> succeeded | failed; pending or running ->
 * skipped; running -> running (a retry). A worker's messages are checked
 * against these changes; the run's outcome comes from here alone.
 */
#ifndef SUPERVISOR_RUN_RUN_STEPS_H
#define SUPERVISOR_RUN_RUN_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ipc/msg.h"

#define STEPS_MAX 10000u /* of a run */

struct step {
	char *name;
	enum msg_step_state state;
	uint64_t attempts;
	uint64_t elapsed_ms;
	char *code;    /* FAILED */
	char *message; /* FAILED */
};

struct run_steps { /* zeroed: no steps */
	struct step *all;
	size_t n;
	size_t count[MSG_STEP_STATES]; /* steps in each state */
};

void run_steps_fini(struct run_steps *s);

/*
 * Apply a worker's message. 0, or -EPROTO with the offence in *ERRMSG (static):
 * an index out of order, too many steps, an illegal change.
 */
int run_steps_apply(struct run_steps *s, const struct msg_step *m,
		    const char **errmsg);

/*
 * End all steps with the run: pending steps are skipped, running steps failed
 * (CODE).
 */
void run_steps_close(struct run_steps *s, const char *code,
		     const char *message);

/* Returns the number of finished steps. */
static inline size_t run_steps_done(const struct run_steps *s)
{
	return s->n - s->count[MSG_STEP_PENDING] - s->count[MSG_STEP_RUNNING];
}

const struct step *
run_steps_first_failed(const struct run_steps *s); /* or NULL: no step failed */

/*
 * Add the member steps, [{name, status, attempts, elapsedMs, error?}], to the
 * open object of OUT; a run without steps has no such member. The text is made
 * without a tree, which for STEPS_MAX steps would take the loop ten times as
 * long.
 */
void run_steps_write(struct buf *out, const struct run_steps *s);

#endif
