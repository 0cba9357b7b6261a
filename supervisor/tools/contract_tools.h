/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract_tools.h - the tools of the template-run contract, and retry_task_run.
 *
 * ARGS have been validated against the tool's inputSchema.
 */
#ifndef SUPERVISOR_TOOLS_CONTRACT_TOOLS_H
#define SUPERVISOR_TOOLS_CONTRACT_TOOLS_H

#include "proto/schema/schema.h"
#include "supervisor/session/request.h"

struct contract_tool {
	const char *name;
	void (*serve)(struct request *c, struct json_object *args);
	bool answers_run; /* as run_task_template: its outputSchema is that */
	/* from contract_tools.json, at the first use; both live as long as we do */
	struct json_object *definition;
	struct schema *input;
};

#define CONTRACT_TOOLS 8

/* All of them, in their order; the first call reads contract_tools.json. */
const struct contract_tool *contract_tools(void);
void contract_tools_fini(void);

/* tool_run.c: a run is made, and waited for. */
void tool_run_template(struct request *c, struct json_object *args);
/* A call of template T by its own name: ARGS are its inputs, unchecked. */
void tool_run_by_name(struct request *c, struct template *t,
		      struct json_object *args);

/* tool_templates.c */
void tool_templates_list(struct request *c, struct json_object *args);

/* tool_runs.c: it is asked about, or ended. */
void tool_runs_get(struct request *c, struct json_object *args);
void tool_runs_list(struct request *c, struct json_object *args);
void tool_runs_cancel(struct request *c, struct json_object *args);
/* Of a run whose id is C's argument runId. True: RES is a failure, and C has been
   answered. */
bool tool_runs_failed(struct request *c, const struct store_result *res);

/* tool_try_again.c: one is made of an earlier one's inputs. */
void tool_try_again(struct request *c, struct json_object *args);

/* INVALID_PARAMETER from what a schema said; PREFIX is put before its
   pointer ("/inputs"). */
void contract_tools_invalid(struct tool_error *r, const char *prefix,
			    const struct schema_error *err);

#endif
