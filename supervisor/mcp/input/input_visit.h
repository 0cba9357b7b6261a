/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_visit.h - a request that waits here for a remote run, and may be asked
 * the run's questions: it is a guest there (input_guests.h), and comes back
 * with answers as it would at the run's machine.
 */
#ifndef SUPERVISOR_INPUT_INPUT_VISIT_H
#define SUPERVISOR_INPUT_INPUT_VISIT_H

#include "supervisor/run/run.h"
#include "supervisor/session/request.h"

struct input_visit;

/*
 * Make C, which watches R, a guest that comes back to ROUND with ANSWERS (lent,
 * or NULL). C's ops tell the result later (asked_abroad, not_heard). The visit
 * is the caller's; NULL: the answers are too large to be sent (INPUT_AWAY_MAX).
 */
struct input_visit *input_visit_new(struct request *c, struct run *r,
				    uint32_t round,
				    struct json_object *answers);
/*
 * Free V: C waits no more. With CANCEL the run ends, unless another client
 * waits for it. NULL is fine.
 */
void input_visit_leave(struct input_visit *v, bool cancel);

/*
 * For runs_ops: R's ROW was read. It may have questions for R's visits; a visit
 * that is asked is over. ROW NULL: R's owner is gone, and R is to be tried
 * again (not_heard, -EAGAIN).
 */
void input_visit_shown(struct run *r, const struct store_run *row);

#endif
