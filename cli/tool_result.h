/* SPDX-License-Identifier: Apache-2.0 */
/* tool_result.h - what a tool answered. */
#ifndef CLI_TOOL_RESULT_H
#define CLI_TOOL_RESULT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/rpc.h"

struct tool_result {
	bool good;		   /* not isError, and no JSON-RPC error */
	bool asks;		   /* the value says what is asked first:
				      inputRequests and requestState */
	struct json_object *value; /* owned: the structured content, or what
				      the text says, or a resource's one
				      content; a refusal is an object
				      with error, errorCode, recoverHint */
};

/* From the response M, which is lent. */
void tool_result_read(struct tool_result *a, const struct rpc_msg *m);
void tool_result_fini(struct tool_result *a);

#endif
