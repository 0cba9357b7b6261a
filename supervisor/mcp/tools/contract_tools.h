/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract_tools.h - the tools of the template-run contract, and
 * retry_task_run.
 *
 * ARGS were validated by the tool's inputSchema.
 */
#ifndef SUPERVISOR_TOOLS_CONTRACT_TOOLS_H
#define SUPERVISOR_TOOLS_CONTRACT_TOOLS_H

#include "proto/schema/schema.h"
#include "supervisor/session/request.h"

struct contract_tool {
	const char *name;
	void (*serve)(struct request *req, struct json_object *args);
	bool answers_run; /* has the outputSchema of run_task_template */
	/* from contract_tools.json, at the first use; kept for the process */
	struct json_object *definition;
	struct schema *input;
};

#define CONTRACT_TOOLS 10

/* Return all tools, in order; the first call reads contract_tools.json. */
const struct contract_tool *contract_tools(void);
void contract_tools_fini(void);

/* tool_run.c: make a run and wait for it */
void tool_run_template(struct request *req, struct json_object *args);
/* Call template T by its own name: ARGS are the inputs, unchecked. */
void tool_run_by_name(struct request *req, struct template *t,
		      struct json_object *args);

/* tool_artifact.c */
void tool_artifact_get(struct request *req, struct json_object *args);

/* tool_templates.c */
void tool_templates_list(struct request *req, struct json_object *args);
/*
 * May T, which the client may see and its trust level may run, be run here? If
 * not, NO says why.
 */
bool tool_templates_may_run(const struct context *ctx, const struct template *t,
			    struct tool_error *no);

/* tool_search.c */
void tool_search(struct request *req, struct json_object *args);

/* tool_runs.c: look a run up, list runs, cancel a run */
void tool_runs_get(struct request *req, struct json_object *args);
void tool_runs_list(struct request *req, struct json_object *args);
void tool_runs_cancel(struct request *req, struct json_object *args);
/*
 * Answer REQ, which names a run by its argument runId, if RES is a failure.
 * Returns whether RES is.
 */
bool tool_runs_failed(struct request *req, const struct store_result *res);

/* tool_try_again.c: make a run of an earlier run's inputs */
void tool_try_again(struct request *req, struct json_object *args);

/*
 * Set R to INVALID_PARAMETER from the schema error ERR; PREFIX ("/inputs")
 * comes before ERR's pointer.
 */
void contract_tools_invalid(struct tool_error *r, const char *prefix,
			    const struct schema_error *err);

#endif
