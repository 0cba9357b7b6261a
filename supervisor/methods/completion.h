/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - completion/complete: what an argument may be. */
#ifndef SUPERVISOR_METHODS_COMPLETION_H
#define SUPERVISOR_METHODS_COMPLETION_H

#include "supervisor/session/request.h"

#define COMPLETION_MAX 100 /* values in one answer; MCP's bound */

/*
 * Of a prompt: what its manifest lists. Of paddock's own resources: the ids
 * of the requestor's newest runs, and of one run's artifacts. All that
 * begin as what is there so far.
 */
void completion_complete(struct request *c);

#endif
