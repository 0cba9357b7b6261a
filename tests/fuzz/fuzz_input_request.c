/* SPDX-License-Identifier: Apache-2.0 */
/* Any JSON as a question of a template, and as the answer of a client. */
#include "tests/fuzz/fuzz.h"
#include "proto/json/json.h"
#include "supervisor/mcp/input/input_request.h"

static void answer(const struct input_request *q, struct json_object *result)
{
	struct schema_budget budget = {.allowed = SCHEMA_STEPS_INLINE};
	struct tool_error r = {0};
	struct json_object *a;

	if (!json_object_is_type(result, json_type_object))
		return;
	a = input_request_result(q, result, &budget, &r);
	assert((a == NULL) == (r.code != NULL));
	json_object_put(a);
	tool_error_fini(&r);
}

/* An input is {"ask": params, "result": the client's answer}. */
static void question(enum worker_question_kind kind, struct json_object *o)
{
	struct worker_question ask = {
	    .seq = 1, .kind = kind, .params = json_member(o, "ask")};
	struct client_terms t = {.revision = MCP_2025_11_25,
				 .capabilities = json_member(o, "client")};
	struct tool_error r = {0};
	struct input_request q;

	if (!json_object_is_type(ask.params, json_type_object))
		return;
	if (input_request_init(&q, &ask, &r)) {
		assert(q.timeout_ms > 0 && r.code == NULL);
		(void)input_request_missing(&q, &t);
		json_object_put(
		    input_request_params(&q, MCP_2025_11_25, "run_1"));
		answer(&q, json_member(o, "result"));
	} else {
		assert(r.code != NULL && r.details != NULL);
	}
	input_request_fini(&q);
	tool_error_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *o = NULL;

	if (json_parse(&o, (const char *)data, size, NULL) < 0)
		return 0;
	question(WORKER_QUESTION_ELICIT, o);
	question(WORKER_QUESTION_SAMPLE, o);
	question(WORKER_QUESTION_ROOTS, o);
	json_object_put(o);
	return 0;
}
