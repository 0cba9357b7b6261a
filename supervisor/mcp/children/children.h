/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.h - calls of the contract's tools by runs. A call of run_task_template makes a
 * child: a run of the same requestor, by the same checks as a client's call.
 */
#ifndef SUPERVISOR_CHILDREN_CHILDREN_H
#define SUPERVISOR_CHILDREN_CHILDREN_H

#include "supervisor/run/worker/worker.h"

/* Is TOOL, of a worker's CALL, one that runs may call of the contract's? */
bool children_serve(const char *tool);

/* R calls a tool that children_serve() names, as ASK says: a worker_on_question. */
void children_ask(struct context *ctx, struct run *r,
		  const struct worker_question *ask);
/* R waits for no answer to SEQ any more: the child ends, if SEQ made one. */
void children_drop(struct run *r, uint32_t seq);

#endif
