/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_away.h - what a run asks, for clients that came to another machine: they are
 * shown it there from the run's row, and their answers come by its owner's mail.
 */
#ifndef SUPERVISOR_INPUT_INPUT_AWAY_H
#define SUPERVISOR_INPUT_INPUT_AWAY_H

#include "supervisor/run/run.h"
#include "supervisor/session/request.h"
#include "supervisor/exec/runs.h"

/* For runs_ops. */
char *input_away_asked(const struct run *r);
void input_away_answered(struct run *r, const char *body);

/* As input_requests(), of ROW's run, whose owner is another. */
struct json_object *input_away_requests(const struct store_run *row,
					const struct client_terms *t);
/*
 * C has RESPONSES (lent) to what ROW's run asks: its owner is told. THEN is called
 * with C, RC 0 once that is durable; or -errno: -E2BIG over 256 KiB. C is held until then.
 */
void input_away_answer(struct request *c, const char *id,
		       struct json_object *responses,
		       void (*then)(struct request *c, int rc));

#endif
