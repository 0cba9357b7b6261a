/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_request.h - what a template asks of a client: a user's answer, a
 * model's, or its roots. Which questions pass, who can be asked, and which answers do.
 */
#ifndef SUPERVISOR_INPUT_INPUT_REQUEST_H
#define SUPERVISOR_INPUT_INPUT_REQUEST_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text/words.h"
#include "proto/schema/schema.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/session/session.h"
#include "supervisor/worker/worker.h"

#define INPUT_REQUEST_TIMEOUT_MS 300000 /* when the template does not say */

struct input_request {
	enum worker_question_kind kind;
	struct json_object *params; /* owned: as the client gets them, but for
				       what the session decides */
	struct schema *schema;	    /* of an elicitation's content */
	const char *newer; /* a property for 2025-11-25 alone, or NULL */
	unsigned needs;	   /* a set of sampling_need */
	int64_t timeout_ms;
	/* what the template calls it, which it may twice; "": nothing */
	char key[QUESTION_KEY_MAX + 1];
};

/*
 * Copies of ASK what is needed. False, with R filled (INVALID_PARAMETER): the
 * template asks for what no client can be asked.
 */
bool input_request_init(struct input_request *q,
			const struct worker_question *ask,
			struct tool_error *r);
void input_request_fini(struct input_request *q);

const char *input_request_method(const struct input_request *q);

/* NULL: who said T can be asked Q. Else what it would have to declare. */
const char *input_request_missing(const struct input_request *q,
				  const struct client_terms *t);

/* Could who said T be asked anything at all? */
bool input_request_any(const struct client_terms *t);

/* What of T matters to who asks, as capabilities; the caller's. */
struct json_object *input_request_askable(const struct client_terms *t);

/* Nobody can be asked Q; ERRMSG is for the template's author. */
void input_request_refuse(const struct input_request *q, const char *errmsg,
			  struct tool_error *r);

/*
 * A run failed with DETAILS (may be NULL), since its template could not do without an
 * answer: the capability, as mcp_declares() has it, that its client, who said T,
 * would have to declare. NULL: it is not that.
 */
const char *input_request_undeclared(struct json_object *details,
				     const struct client_terms *t);

/*
 * The params as REV has them, of task TASK_ID (NULL: of none); the caller owns them.
 */
struct json_object *input_request_params(const struct input_request *q,
					 enum mcp_revision rev,
					 const char *task_id);

/*
 * RESULT, an object, is the client's. What the template gets (the caller owns
 * it), or NULL with R filled: INPUT_INVALID, also for one that takes more than
 * B to check. On any thread.
 */
struct json_object *input_request_result(const struct input_request *q,
					 struct json_object *result,
					 struct schema_budget *b,
					 struct tool_error *r);

#endif
