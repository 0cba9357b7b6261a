/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract_tools.h - the seven tools of the template-run contract.
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
	/* from contract_tools.json, at the first use; both live as long as we do */
	struct json_object *definition;
	struct schema *input;
};

#define CONTRACT_TOOLS 7

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

/* INVALID_PARAMETER from what a schema said; PREFIX is put before its
   pointer ("/inputs"). */
void contract_tools_invalid(struct tool_error *r, const char *prefix,
			    const struct schema_error *err);

#endif
