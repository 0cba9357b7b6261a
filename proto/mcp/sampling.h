/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - questions to a client's model, and its answers (MCP,
 * client/sampling).
 */
#ifndef PROTO_MCP_SAMPLING_H
#define PROTO_MCP_SAMPLING_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/pointer_error.h"

/* Abilities that the client needs, beside "sampling". */
enum sampling_need {
	SAMPLING_AUDIO = 1,   /* blocks of audio, since 2025-03-26 */
	SAMPLING_BLOCKS = 2,  /* several blocks in a message: 2025-11-25 */
	SAMPLING_TOOLS = 4,   /* the capability sampling.tools, 2025-11-25 */
	SAMPLING_CONTEXT = 8, /* the capability sampling.context; before
				 2025-11-25 none */
};

/*
 * Are PARAMS good for sampling/createMessage? *NEEDS is a set of sampling_need.
 * False: *F says where not.
 */
bool sampling_check(struct json_object *params, unsigned *needs,
		    struct pointer_error *f);

/* Has RESULT a role, a model and content of known kinds? */
bool sampling_result_check(struct json_object *result, struct pointer_error *f);

#endif
