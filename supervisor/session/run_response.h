/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_response.h - a request that is answered with a run: what it gave, or how it
 * goes.
 */
#ifndef SUPERVISOR_SESSION_RUN_RESPONSE_H
#define SUPERVISOR_SESSION_RUN_RESPONSE_H

#include "supervisor/run/run_result.h"
#include "supervisor/session/request.h"

/* C is answered with A, whose texts are lent, now or from a thread. */
void run_response_send(struct request *c, const struct run_result_source *a);
/* The same for tasks/result: it says of which task. */
void run_response_send_task(struct request *c,
			    const struct run_result_source *a);

/*
 * Does the tool of the template TEMPLATE_ID, as its clients know it now, have
 * an outputSchema? For run_result_source.promised.
 */
bool run_response_has_schema(const struct request *c, const char *template_id);

#endif
