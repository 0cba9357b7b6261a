/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_request.h - what a template asks of a client: a user's answer, or a
 * model's. Which questions pass, who can be asked, and which answers do.
 */
#ifndef SUPERVISOR_INPUT_INPUT_REQUEST_H
#define SUPERVISOR_INPUT_INPUT_REQUEST_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/schema/schema.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/session/session.h"
#include "supervisor/exec/worker.h"

#define QUESTION_TIMEOUT_MS 300000 /* when the template does not say */

struct question {
	enum worker_ask_kind kind;
	struct json_object *params; /* owned: as the client gets them, but for
				       what the session decides */
	struct schema *schema;	    /* of an elicitation's content */
	const char *newer; /* a property for 2025-11-25 alone, or NULL */
	unsigned needs;	   /* a set of sampling_need */
	int64_t timeout_ms;
};

/*
 * Copies of ASK what is needed. False, with R filled (INVALID_PARAMETER): the
 * template asks for what no client can be asked.
 */
bool question_init(struct question *q, const struct worker_ask *ask,
		   struct refusal *r);
void question_fini(struct question *q);

const char *question_method(const struct question *q);

/* NULL: S can be asked Q. Else what its client would have to declare. */
const char *question_lacks(const struct question *q, const struct session *s);

/* Nobody can be asked Q; WHY is for the template's author. */
void question_refuse(const struct question *q, const char *why,
		     struct refusal *r);

/*
 * The params for S, of task TASK_ID (NULL: of none); the caller owns them.
 */
struct json_object *question_params(const struct question *q,
				    const struct session *s,
				    const char *task_id);

/*
 * RESULT, an object, is the client's. What the template gets (the caller owns
 * it), or NULL with R filled: INPUT_INVALID, also for one that takes more than
 * B to check. On any thread.
 */
struct json_object *question_answer(const struct question *q,
				    struct json_object *result,
				    struct schema_budget *b, struct refusal *r);

#endif
