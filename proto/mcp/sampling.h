/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - what a client's model may be asked, and what it answers (MCP,
 * client/sampling).
 */
#ifndef PROTO_MCP_SAMPLING_H
#define PROTO_MCP_SAMPLING_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/pointer_error.h"

/* What the client must know, or have declared, beside "sampling". */
enum sampling_need {
	SAMPLING_AUDIO = 1,   /* since 2025-03-26 */
	SAMPLING_BLOCKS = 2,  /* several blocks in a message: 2025-11-25 */
	SAMPLING_TOOLS = 4,   /* sampling.tools, 2025-11-25 */
	SAMPLING_CONTEXT = 8, /* sampling.context; before 2025-11-25 nothing */
};

/*
 * Are PARAMS those of sampling/createMessage? *NEEDS is a set of
 * sampling_need. False: *F says where not.
 */
bool sampling_check(struct json_object *params, unsigned *needs,
		    struct pointer_error *f);

/* Has RESULT a role, a model and content of kinds that there are? */
bool sampling_result_check(struct json_object *result, struct pointer_error *f);

#endif
