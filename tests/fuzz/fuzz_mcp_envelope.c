/* SPDX-License-Identifier: Apache-2.0 */
/* Any JSON as the params of a stateless request, and as a result to finish. */
#include "tests/fuzz/fuzz.h"
#include "proto/json/json.h"
#include "proto/mcp/mcp_envelope.h"

static void envelope(struct json_object *params)
{
	struct mcp_envelope e;
	struct json_object *told;

	mcp_envelope_read(&e, params);
	assert((e.code == 0) == (e.text[0] == '\0'));
	assert(e.code != 0 || (e.claims && e.capabilities != NULL &&
			       mcp_has(e.revision, MCP_STATELESS)));
	told = mcp_envelope_data(&e);
	json_text(told, NULL);
	json_object_put(told);
	(void)mcp_declares(e.capabilities,
			   "extensions/io.modelcontextprotocol/tasks");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *o = NULL;

	if (json_parse(&o, (const char *)data, size, NULL) < 0)
		return 0;
	envelope(o);
	if (json_object_is_type(o, json_type_object)) {
		mcp_finish_result(o, MCP_2026_07_28);
		assert(json_member(o, "resultType") != NULL);
		assert(json_member(json_member(o, "_meta"), MCP_META_SERVER) !=
		       NULL);
	}
	json_object_put(o);
	return 0;
}
