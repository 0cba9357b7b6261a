/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_answer.h - a call that is answered with a run: what it gave, or how it
 * goes.
 */
#ifndef SUPERVISOR_CALL_ANSWER_H
#define SUPERVISOR_CALL_ANSWER_H

#include "supervisor/answer.h"
#include "supervisor/call.h"

/* C is answered with A, whose texts are lent, now or from a thread. */
void call_answer(struct call *c, const struct answer_source *a);
/* The same for tasks/result: it says of which task. */
void call_answer_task(struct call *c, const struct answer_source *a);

/*
 * Does the tool of the template TEMPLATE_ID, as its clients know it now, have
 * an outputSchema? For answer_source.promised.
 */
bool call_promised(const struct call *c, const char *template_id);

#endif
