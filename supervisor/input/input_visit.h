/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_visit.h - a request that waits here for a run of another machine, and may be
 * asked what that asks: it is a guest there (input_guests.h), and comes back with
 * answers as it would at that machine.
 */
#ifndef SUPERVISOR_INPUT_INPUT_VISIT_H
#define SUPERVISOR_INPUT_INPUT_VISIT_H

#include "supervisor/run/run.h"
#include "supervisor/session/request.h"

struct input_visit;

/*
 * C, which watches R, comes back with ANSWERS (lent, or NULL) to ROUND. What comes of
 * that is told later, by its ops (asked_abroad, not_heard). The caller's; NULL: the
 * answers are too large to be sent (INPUT_AWAY_MAX).
 */
struct input_visit *input_visit_new(struct request *c, struct run *r,
				    uint32_t round,
				    struct json_object *answers);
/*
 * C waits no more; with CANCEL it wants the run to end, which it does unless somebody
 * else waits. Frees V; NULL is fine.
 */
void input_visit_leave(struct input_visit *v, bool cancel);

/*
 * For runs_ops: R's ROW was read, which may say what is asked, and then who is asked is
 * over. ROW NULL: its owner is gone, and R to be tried again (not_heard, -EAGAIN).
 */
void input_visit_shown(struct run *r, const struct store_run *row);

#endif
