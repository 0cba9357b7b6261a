/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_error.h - why something was not done: what came, what would pass, who
 * can change it. It becomes a tool result with isError.
 */
#ifndef PROTO_MCP_TOOL_ERROR_H
#define PROTO_MCP_TOOL_ERROR_H

#include <json-c/json.h>

struct refusal { /* all-zero: nothing is refused */
	const char *code; /* static: TEMPLATE_NOT_FOUND, … */
	char *message;	  /* owned */
	struct json_object *details; /* owned, or NULL */
};

/* Fill R, which is empty; DETAILS is taken. */
void refuse(struct refusal *r, const char *code, struct json_object *details,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void refusal_fini(struct refusal *r);

/* {error, errorCode, recoverHint, details?}; the caller owns it. */
struct json_object *refusal_json(const char *code, const char *message,
				 struct json_object *details);

#endif
