/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_mail.h - messages that clients wrote at other machines: answers to
 * the questions of our runs, and to requests of our sessions. Messages come by
 * the store's mail.
 */
#ifndef SUPERVISOR_CLUSTER_ANSWER_MAIL_H
#define SUPERVISOR_CLUSTER_ANSWER_MAIL_H

#include "supervisor/context.h"
#include "supervisor/run/exec/runs.h"

/* Make CTX's messages, which borrow CTX; the first call of this module. */
struct answer_mail *answer_mail_new(struct context *ctx);
/* Free ALL, and drop messages that were not heard yet. NULL is fine. */
void answer_mail_free(struct answer_mail *all);

/*
 * For runs_ops: may the runs read more mail? Not before the earlier messages are
 * heard; then the runs of CTX read once more if this function refused
 * meanwhile.
 */
bool answer_mail_wanted(struct context *ctx);
/*
 * Hear the answers in RES, a result of store_read_mail(), each in a turn of its
 * own.
 */
void answer_mail_take(struct context *ctx, const struct store_result *res);

#endif
