/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - completion/complete: the possible values of an argument. */
#ifndef SUPERVISOR_METHODS_COMPLETION_H
#define SUPERVISOR_METHODS_COMPLETION_H

#include "supervisor/session/request.h"

#define COMPLETION_MAX 100 /* values in an answer; MCP's bound */

/*
 * Complete an argument of a prompt, from its manifest, or of paddock's
 * resources: ids of the requestor's newest runs, and of a run's artifacts. Only
 * values which begin like the given text are offered.
 */
void completion_complete(struct request *req);

#endif
