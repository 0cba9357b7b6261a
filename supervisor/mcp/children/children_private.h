/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children_private.h - for these files alone:
 *
 *   children.c         open calls of a run, each of which is a request
 *   children_rules.c   which template may a run call?
 *   children_answer.c  the answer for the run, from the answer for a client
 */
#ifndef SUPERVISOR_CHILDREN_CHILDREN_PRIVATE_H
#define SUPERVISOR_CHILDREN_CHILDREN_PRIVATE_H

#include <json-c/json.h>

#include "base/buf.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/context.h"
#include "supervisor/mcp/children/children.h"
#include "supervisor/session/result/run_result.h"

/* An answer for a worker: JSON text, see worker_answer_question(). */
struct child_answer {
	bool ok;
	struct buf text;
};

/*
 * May PARENT call a template with the arguments ARGS, of run_task_template? False: E
 * says why not.
 */
bool children_may(const struct context *ctx, struct run *parent,
		  struct json_object *args, struct tool_error *e);

/* May PARENT read what its client may? False: E says that PARENT may not WHAT. */
bool children_may_read(const struct context *ctx, struct run *parent,
		       const char *what, struct tool_error *e);

/* Make the answer of a child that has ended, as A says. */
void child_answer_run(struct child_answer *out,
		      const struct run_result_source *a);
/* Make the answer of TEXT, a JSON-RPC response: to a tool for reading, or to a refused call. */
void child_answer_response(struct child_answer *out, const char *text,
			   size_t len);
/* Make the answer of E, which is emptied. */
void child_answer_refusal(struct child_answer *out, struct tool_error *e);

#endif
