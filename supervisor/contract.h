/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.h - the seven tools of the template-run contract.
 *
 * ARGS have been validated against the tool's inputSchema.
 */
#ifndef SUPERVISOR_CONTRACT_H
#define SUPERVISOR_CONTRACT_H

#include "proto/schema.h"
#include "supervisor/call.h"

struct contract_tool {
	const char *name;
	void (*serve)(struct call *c, struct json_object *args);
	/* from contract.json, at the first use; both live as long as we do */
	struct json_object *definition;
	struct schema *input;
};

#define CONTRACT_TOOLS 7

/* All of them, in their order; the first call reads contract.json. */
const struct contract_tool *contract_tools(void);
void contract_fini(void);

/* contract_make.c: a run is made, and waited for. */
void contract_run_template(struct call *c, struct json_object *args);
/* A call of template T by its own name: ARGS are its inputs, unchecked. */
void contract_call_template(struct call *c, struct template *t,
			    struct json_object *args);

/* contract_list.c */
void contract_list_templates(struct call *c, struct json_object *args);

/* contract_runs.c: it is asked about, or ended. */
void contract_get_run(struct call *c, struct json_object *args);
void contract_list_runs(struct call *c, struct json_object *args);
void contract_cancel_run(struct call *c, struct json_object *args);

/* INVALID_PARAMETER from what a schema said; PREFIX is put before its
   pointer ("/inputs"). */
void contract_invalid(struct refusal *r, const char *prefix,
		      const struct schema_error *err);

#endif
