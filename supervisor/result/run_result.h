/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_result.h - what a tool answers of a run: the same at once, by tasks/result,
 * by get_task_run, and after a restart.
 */
#ifndef SUPERVISOR_RESULT_RUN_RESULT_H
#define SUPERVISOR_RESULT_RUN_RESULT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/mcp.h"
#include "supervisor/store/store.h"

#define RUN_RESULT_LINKS 100 /* to artifacts; get_task_run lists all */

struct run_result_source {
	const char *id;
	enum store_status status;
	enum store_task form; /* of the call that asks, not _NONE */
	const char *view;     /* the view, as a rule the last: JSON text */
	const char *node;     /* that ran it, for who may know; form _VIEW */
	bool looked_up;	   /* by who asks how a run went: no error is its own */
	bool deduplicated; /* another call has made the run; form _VIEW */
	bool promised;	   /* the tool has an outputSchema; not form _VIEW */
	size_t max;	   /* bytes of the message… */
	unsigned level;	   /* …for which the level below this gave too many */
};

/*
 * The CallToolResult; the caller owns it. Everything in A is lent. What is long
 * gives way: at level 1 a text to its beginning, at 2 structuredContent, too, to
 * what names a resource that has the whole.
 */
struct json_object *run_result_make(const struct run_result_source *a,
				    enum mcp_revision revision);

/*
 * The template of the run A answered with an error of JSON-RPC, in place of a
 * result: {code, message, data?}, the caller's. NULL: it did not.
 */
struct json_object *run_result_error(const struct run_result_source *a);

/* A text block of TEXT, which is lent, to CONTENT. */
void run_result_add_text(struct json_object *content, const char *text);

#endif
