/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_response.h - a call that is answered with a run: what it gave, or how it
 * goes.
 */
#ifndef SUPERVISOR_SESSION_RUN_RESPONSE_H
#define SUPERVISOR_SESSION_RUN_RESPONSE_H

#include "supervisor/run/run_result.h"
#include "supervisor/session/request.h"

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
