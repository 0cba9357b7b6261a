/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_error.h - a refusal: the fault, the values that would pass, the person
 * able to change the limit, and advice to the client. A refusal becomes a tool
 * result with isError.
 */
#ifndef PROTO_MCP_TOOL_ERROR_H
#define PROTO_MCP_TOOL_ERROR_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct tool_error {		     /* a refusal; zeroed: nothing is refused */
	const char *code;	     /* static, such as TEMPLATE_NOT_FOUND */
	char *message;		     /* the sentence, owned */
	struct json_object *details; /* the details, owned, or NULL */
};

/* Fill R, which is empty; takes DETAILS. */
void tool_error_set(struct tool_error *r, const char *code,
		    struct json_object *details, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void tool_error_fini(struct tool_error *r);

/* Return {error, errorCode, recoverHint, details?}, owned by the caller. */
struct json_object *tool_error_json(const char *code, const char *message,
				    struct json_object *details);

/* Return details of RESOURCE_LIMIT, without a USED below 0; the caller's. */
struct json_object *tool_error_limit(const char *limit, int64_t used,
				     int64_t allowed, const char *unit,
				     const char *who_can_raise);

/*
 * Return advice on CODE and the cause in DETAILS (may be NULL), in one sentence
 * with the names of tools and arguments. The caller owns the text.
 */
char *recover_hint_of(const char *code, struct json_object *details);

/*
 * Return how QUOTA_EXCEEDED with DETAILS passes by itself or by the client:
 * only stored bytes expire. The caller owns the text.
 */
char *tool_error_quota_hint(struct json_object *details);
/* Can anybody raise the limit of DETAILS? */
bool tool_error_can_be_raised(struct json_object *details);

#endif
