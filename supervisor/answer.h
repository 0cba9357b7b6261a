/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - what the call that made a run answers once the run has ended:
 * the same at once, by tasks/result, and after a restart.
 */
#ifndef SUPERVISOR_ANSWER_H
#define SUPERVISOR_ANSWER_H

#include <json-c/json.h>

#include "proto/mcp.h"
#include "supervisor/store.h"

struct answer_source {
	const char *id;
	enum store_status status; /* an ended one */
	enum store_task form;	  /* of the call that asks, not _NONE */
	const char *view;	  /* the terminal view: JSON text of an object */
};

/* The CallToolResult; the caller owns it. Everything in A is lent. */
struct json_object *answer_make(const struct answer_source *a,
				enum mcp_revision revision);

#endif
