/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_request.h - a template's question to a client, about the user, the
 * model or the roots: which questions pass, which client can be asked, which
 * answers fit.
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
#include "supervisor/run/worker/worker.h"

#define INPUT_REQUEST_TIMEOUT_MS 300000 /* when the template does not say */
#define INPUT_TIMEOUT_MOST_MS 604800000 /* the most of timeoutMs */

struct input_request {
	enum worker_question_kind kind;
	struct json_object *params; /* owned; less the session's own members */
	struct schema *schema;	    /* an elicitation's content */
	/* owned: the first message, once a repeat says more; or NULL */
	char *message;
	/* a schema property that needs 2025-11-25, or NULL */
	const char *newer;
	unsigned needs; /* a set of sampling_need */
	int64_t timeout_ms;
	/* the template's name for the question, perhaps used twice; "": none */
	char key[QUESTION_KEY_MAX + 1];
};

/*
 * Make Q of ASK, of which the needed parts are copied. False, with R filled
 * (INVALID_PARAMETER): no client can be asked such a question.
 */
bool input_request_init(struct input_request *q,
			const struct worker_question *ask,
			struct tool_error *r);
void input_request_fini(struct input_request *q);
/*
 * Ready Q to be asked once more: its message says how the last answer was
 * WRONG.
 */
void input_request_again(struct input_request *q, const char *wrong);

const char *input_request_method(const struct input_request *q);
/* Is METHOD (may be NULL) of a question? Then *KIND is the kind of question. */
bool input_request_kind(enum worker_question_kind *kind, const char *method);

/*
 * NULL: a client with the terms T can be asked Q. Else the capability that the
 * client would have to declare, as a sentence.
 */
const char *input_request_missing(const struct input_request *q,
				  const struct client_terms *t);

/* Could a client with the terms T be asked anything (user or model)? */
bool input_request_any(const struct client_terms *t);

/*
 * Returns the capabilities of T that decide which questions the client can be
 * asked; the caller's.
 */
struct json_object *input_request_askable(const struct client_terms *t);

/* Fill R: no client can be asked Q; ERRMSG is for the template's author. */
void input_request_refuse(const struct input_request *q, const char *errmsg,
			  struct tool_error *r);

/*
 * Returns the capability, as mcp_declares() has it, that a run's client with
 * the terms T would have to declare, when the run failed with DETAILS (may be
 * NULL) because its template needed an answer. NULL: the run failed otherwise.
 */
const char *input_request_undeclared(struct json_object *details,
				     const struct client_terms *t);

/*
 * Returns Q's params in the form of REV, of task TASK_ID (NULL: of no task);
 * the caller owns them.
 */
struct json_object *input_request_params(const struct input_request *q,
					 enum mcp_revision rev,
					 const char *task_id);

/*
 * Check RESULT, an object of a client's. Returns the template's answer (the
 * caller owns it), or NULL with R filled: INPUT_INVALID, also for a result that
 * takes more than B to check. On any thread.
 */
struct json_object *input_request_result(const struct input_request *q,
					 struct json_object *result,
					 struct schema_budget *b,
					 struct tool_error *r);

#endif
