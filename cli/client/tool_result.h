/* SPDX-License-Identifier: Apache-2.0 */
/* tool_result.h - the answer of a tool, decoded. */
#ifndef CLI_TOOL_RESULT_H
#define CLI_TOOL_RESULT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/rpc.h"

struct tool_result {
	bool good; /* neither isError nor a JSON-RPC error */
	bool asks; /* value is inputRequests and requestState */
	/*
	 * owned: the structured content, or the text decoded, or the single
	 * content of a resource, or the server's questions; a refusal is an
	 * object with error, errorCode, recoverHint
	 */
	struct json_object *value;
};

/* Decode the response M, which is lent, into A. */
void tool_result_read(struct tool_result *a, const struct rpc_msg *m);
void tool_result_fini(struct tool_result *a);

#endif
