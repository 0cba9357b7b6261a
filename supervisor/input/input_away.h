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

#define INPUT_AWAY_MAX (256u << 10) /* bytes */
#define INPUT_AWAY_MS 600000 /* an owner that lives does so in a moment */

/* For runs_ops. */
char *input_away_asked(const struct run *r);
/* LETTER (lent), of BYTES as text, came to R's owner. */
void input_away_answered(struct context *ctx, struct run *r,
			 struct json_object *letter, size_t bytes);

/*
 * What ROW's owner shows of its questions: {"requests", "guests"}, the caller's, or
 * NULL. The first are as input_requests() has them, the others input_guests_shown().
 */
struct json_object *input_away_shown(const struct store_run *row);

/* As input_requests(), of ROW's run, whose owner is another. */
struct json_object *input_away_requests(const struct store_run *row,
					const struct client_terms *t);
/*
 * ANSWERS (lent), which C brings by their keys, for the owner of run ID. THEN is called
 * with C, which is held until then: RC 0 once that is durable, or -errno: -E2BIG over
 * 256 KiB, -ENOBUFS when too much of C's requestor is on its way, -EOPNOTSUPP where
 * instances are of one machine.
 */
void input_away_send(struct request *c, const char *id,
		     struct json_object *answers,
		     void (*then)(struct request *c, int rc));

#endif
