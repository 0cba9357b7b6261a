/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_result.h - the tool result for a run: the same at once, by tasks/result,
 * by get_task_run, and after a restart.
 */
#ifndef SUPERVISOR_RESULT_RUN_RESULT_H
#define SUPERVISOR_RESULT_RUN_RESULT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/mcp.h"
#include "supervisor/session/result/run_pictures.h"

/* most links to artifacts; get_task_run lists all */
#define RUN_RESULT_LINKS 100

struct run_result_source {
	const char *id;
	enum store_status status;
	enum store_task form; /* of the asking call, not _NONE */
	const char *view; /* of the run, usually the final view: JSON text */
	/* the machine that ran it, if the client may know; form _VIEW */
	const char *node;
	/* asked for by id: the run's failure is no error of the answer */
	bool looked_up;
	bool deduplicated; /* an earlier call made the run; form _VIEW */
	bool promised;	   /* the tool has an outputSchema; not form _VIEW */
	size_t max;	   /* bytes of the message */
	unsigned level;	   /* the level below gave more than MAX bytes */
	/* shown beside the links to them, and borrowed; NULL: links alone */
	const struct run_pictures *pictures;
};

/*
 * Make the CallToolResult, which the caller owns. *Lends* everything in A. A
 * long result is shortened: at level 1 a text to its beginning, at level 2 also
 * structuredContent to the name of a resource with the whole.
 */
struct json_object *run_result_make(const struct run_result_source *a,
				    enum mcp_revision revision);

/*
 * Return the JSON-RPC error {code, message, data?} with which the template of A
 * answered in place of a result; the caller owns it. NULL: no such error.
 */
struct json_object *run_result_error(const struct run_result_source *a);

/* Add a text block of TEXT (*lent*) to CONTENT. */
void run_result_add_text(struct json_object *content, const char *text);

#endif
