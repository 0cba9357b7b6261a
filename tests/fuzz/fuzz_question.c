/* SPDX-License-Identifier: Apache-2.0 */
/* Any JSON as what a template asks, and as what a client answers. */
#include <assert.h>
#include <stdint.h>
#include <stddef.h>

#include "proto/json/json.h"
#include "supervisor/input/input_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(const struct question *q, struct json_object *result)
{
	struct schema_budget budget = {.allowed = SCHEMA_STEPS_INLINE};
	struct refusal r = {0};
	struct json_object *a;

	if (!json_object_is_type(result, json_type_object))
		return;
	a = question_answer(q, result, &budget, &r);
	assert((a == NULL) == (r.code != NULL));
	json_object_put(a);
	refusal_fini(&r);
}

/* {"ask": params, "result": …} */
static void question(enum worker_ask_kind kind, struct json_object *o)
{
	struct worker_ask ask = {
	    .seq = 1, .kind = kind, .params = json_member(o, "ask")};
	struct session s = {.revision = MCP_2025_11_25,
			    .client = json_member(o, "client")};
	struct refusal r = {0};
	struct question q;

	if (!json_object_is_type(ask.params, json_type_object))
		return;
	if (question_init(&q, &ask, &r)) {
		assert(q.timeout_ms > 0 && r.code == NULL);
		(void)question_lacks(&q, &s);
		json_object_put(question_params(&q, &s, "run_1"));
		answer(&q, json_member(o, "result"));
	} else {
		assert(r.code != NULL && r.details != NULL);
	}
	question_fini(&q);
	refusal_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *o = NULL;

	if (json_parse(&o, (const char *)data, size, NULL) < 0)
		return 0;
	question(WORKER_ASK_ELICIT, o);
	question(WORKER_ASK_SAMPLE, o);
	json_object_put(o);
	return 0;
}
