/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - answers which leave together, since their requests came as an
 * array.
 */
#ifndef SUPERVISOR_SESSION_BATCH_H
#define SUPERVISOR_SESSION_BATCH_H

#include "supervisor/session/session.h"

struct batch;

/*
 * Make a batch for N messages, which came to S (*lent* until batch_gone()) by
 * STREAM.
 */
struct batch *batch_new(struct session *s, void *stream, size_t n);
void batch_want(struct batch *b); /* a message of B will get an answer */
/*
 * Count a message of B as answered, or as without an answer; the last message
 * frees B.
 */
void batch_skip(struct batch *b);
/* Add ANSWER (*copied*); batch_skip() follows. */
void batch_add(struct batch *b, const struct buf *answer);
/*
 * Return the bytes of the answers so far, with EACH bytes for a future answer.
 */
size_t batch_bytes(const struct batch *b, size_t each);
void batch_gone(struct batch *b); /* the client of B has gone */

#endif
