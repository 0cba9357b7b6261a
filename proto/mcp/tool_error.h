/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_error.h - why something was not done: what came, what would pass, who
 * can change it, what the client can do. It becomes a tool result with isError.
 */
#ifndef PROTO_MCP_TOOL_ERROR_H
#define PROTO_MCP_TOOL_ERROR_H

#include <json-c/json.h>
#include <stdint.h>

struct tool_error {		     /* all-zero: nothing is refused */
	const char *code;	     /* static: TEMPLATE_NOT_FOUND, … */
	char *message;		     /* owned */
	struct json_object *details; /* owned, or NULL */
};

/* Fill R, which is empty; DETAILS is taken. */
void tool_error_set(struct tool_error *r, const char *code,
		    struct json_object *details, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void tool_error_fini(struct tool_error *r);

/* {error, errorCode, recoverHint, details?}; the caller owns it. */
struct json_object *tool_error_json(const char *code, const char *message,
				    struct json_object *details);

/* RESOURCE_LIMIT's details, without a USED below 0; the caller owns them. */
struct json_object *tool_error_limit(const char *limit, int64_t used,
				     int64_t allowed, const char *unit,
				     const char *who_can_raise);

/*
 * A sentence on CODE that fits its cause, which DETAILS (or NULL) tells; the
 * caller's. It names tools and their arguments.
 */
char *recover_hint_of(const char *code, struct json_object *details);

#endif
