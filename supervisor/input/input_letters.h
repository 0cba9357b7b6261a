/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_letters.h - what clients say at other machines, and is for us: answers to our
 * runs' questions, and to what our sessions asked them. It comes by the store's mail.
 */
#ifndef SUPERVISOR_INPUT_INPUT_LETTERS_H
#define SUPERVISOR_INPUT_INPUT_LETTERS_H

#include "supervisor/context.h"
#include "supervisor/exec/runs.h"

/* Of CTX, which borrows it; before the first of these functions. */
struct input_letters *input_letters_new(struct context *ctx);
/* What was not heard yet is not any more. NULL is fine. */
void input_letters_free(struct input_letters *all);

/*
 * For runs_ops. May more be read? Not before what was is heard: then CTX's runs read
 * their mail once more if somebody has asked this meanwhile.
 */
bool input_letters_wanted(struct context *ctx);
/* RES is of store_read_mail(): the answers in it are heard, each in its turn. */
void input_letters_take(struct context *ctx, const struct store_result *res);

#endif
