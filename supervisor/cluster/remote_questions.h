/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_questions.h - questions of a remote run: clients at another machine see the
 * questions in the run's row, and answer by mail to the run's owner.
 */
#ifndef SUPERVISOR_CLUSTER_REMOTE_QUESTIONS_H
#define SUPERVISOR_CLUSTER_REMOTE_QUESTIONS_H

#include "supervisor/run/run.h"
#include "supervisor/session/request.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"

/* a message's life; a running owner reads a message in a moment */
#define REMOTE_QUESTIONS_MESSAGE_MS 600000

/*
 * For runs_ops: R's questions and guests for its row, as JSON; the caller's, or
 * NULL.
 */
char *remote_questions_asked(const struct run *r);
/* Hear MESSAGE (lent; BYTES as text), which came to us, R's owner. */
void remote_questions_answered(struct context *ctx, struct run *r,
			       struct json_object *message, size_t bytes);

/*
 * Returns the questions and guests in ROW, written by its owner: {"requests",
 * "guests"}, the caller's, or NULL. "requests" is as of input_requests(),
 * "guests" as of remote_waiters_shown().
 */
struct json_object *remote_questions_shown(const struct store_run *row);

/* As input_requests(), for ROW's run, of another instance. */
struct json_object *remote_questions_requests(const struct store_run *row,
					      const struct client_terms *t);
/*
 * Send ANSWERS (lent; the answers of REQ by their keys) to the owner of run ID. REQ
 * is held until the call of THEN: RC 0 once the message is durable, or -errno:
 * -E2BIG over 256 KiB, -ENOBUFS when too much of REQ's requestor is on its way,
 * -EOPNOTSUPP where all instances are of one machine.
 */
void remote_questions_answer(struct request *req, const char *id,
			     struct json_object *answers,
			     void (*then)(struct request *req, int rc));

/* For the table: see supervisor/run/exec/cluster.h. */
void remote_questions_reply(struct context *ctx, const struct run *r,
			    const char *key, bool ok, const char *text,
			    size_t len);
/* Hold the questions in ROW, of R, which a run here called, at the outermost run. */
void remote_questions_relay(struct context *ctx, struct run *r,
			    const struct store_run *row);

#endif
