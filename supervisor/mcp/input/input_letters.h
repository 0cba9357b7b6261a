/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_letters.h - letters that clients wrote at other machines: answers to
 * the questions of our runs, and to requests of our sessions. Letters come by
 * the store's mail.
 */
#ifndef SUPERVISOR_INPUT_INPUT_LETTERS_H
#define SUPERVISOR_INPUT_INPUT_LETTERS_H

#include "supervisor/context.h"
#include "supervisor/run/exec/runs.h"

/* Make CTX's letters, which borrow CTX; the first call of this module. */
struct input_letters *input_letters_new(struct context *ctx);
/* Free ALL, and drop letters that were not heard yet. NULL is fine. */
void input_letters_free(struct input_letters *all);

/*
 * For runs_ops: may the runs read more mail? Not before the earlier letters are
 * heard; then the runs of CTX read once more if this function refused
 * meanwhile.
 */
bool input_letters_wanted(struct context *ctx);
/*
 * Hear the answers in RES, a result of store_read_mail(), each in a turn of its
 * own.
 */
void input_letters_take(struct context *ctx, const struct store_result *res);

#endif
