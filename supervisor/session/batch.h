/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - answers that leave together, since their requests came as one array.
 */
#ifndef SUPERVISOR_SESSION_BATCH_H
#define SUPERVISOR_SESSION_BATCH_H

#include "supervisor/session/session.h"

struct batch;

/* For N messages that S (lent, until batch_gone()) had by STREAM. */
struct batch *batch_new(struct session *s, void *stream, size_t n);
void batch_want(struct batch *b); /* one of them gets an answer */
/* One of them has its answer, or needs none; with the last one B is gone. */
void batch_skip(struct batch *b);
/* The ANSWER of one, copied; batch_skip() follows. */
void batch_add(struct batch *b, const struct buf *answer);
/* Bytes of the answers that are there, with EACH for one that is to come. */
size_t batch_bytes(const struct batch *b, size_t each);
void batch_gone(struct batch *b); /* nobody is there to be answered */

#endif
