/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.h - calls of templates by runs. A call makes a child: a run of the same
 * requestor, by the same checks as a client's run_task_template.
 */
#ifndef SUPERVISOR_CHILDREN_CHILDREN_H
#define SUPERVISOR_CHILDREN_CHILDREN_H

#include "supervisor/run/worker/worker.h"

/* The tool of a worker's CALL that is a call of a template. */
#define CHILDREN_TOOL "run_task_template"

/* R calls a template, as ASK says: a worker_on_question. */
void children_ask(struct context *ctx, struct run *r,
		  const struct worker_question *ask);
/* R waits for no answer to SEQ any more: the child ends, if SEQ made one. */
void children_drop(struct run *r, uint32_t seq);

#endif
