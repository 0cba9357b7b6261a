/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_result.c - decodes a tool's answer into a value or a refusal;
 * client_call.c, client_bytes.c and client_open.c call it. An answer of another
 * shape has the value NULL, which the caller treats as the server's fault.
 */
#include "cli/client/tool_result.h"

#include <stdio.h>

#include "proto/json/json_pack.h"

void tool_result_fini(struct tool_result *a)
{
	json_object_put(a->value);
	*a = (struct tool_result){0};
}

static struct json_object *as_refusal(const char *code, const char *message)
{
	return json_pack("error:s errorCode:s",
			 message != NULL ? message : "no reason given", code);
}

/*
 * Return the first text block, parsed as JSON, or else as a string; a failed
 * tool's sentence becomes a refusal. NULL: no text block.
 */
static struct json_object *read_text(struct json_object *result, bool good)
{
	struct json_object *content = json_member(result, "content");
	struct json_object *block, *text, *value = NULL;

	if (!json_object_is_type(content, json_type_array))
		return NULL;
	block = json_object_array_get_idx(content, 0);
	text = json_member(block, "text");
	if (!json_object_is_type(text, json_type_string))
		return NULL;
	if (json_parse(&value, json_object_get_string(text),
		       (size_t)json_object_get_string_len(text), NULL) == 0)
		return value;
	return good ? json_object_get(text)
		    : as_refusal("TOOL_ERROR", json_object_get_string(text));
}

void tool_result_read(struct tool_result *a, const struct rpc_msg *m)
{
	struct json_object *structured, *data = json_member(m->error, "data");
	int number = json_object_get_int(json_member(m->error, "code"));
	const char *code = json_member_str(data, "errorCode");
	char text[32];

	*a = (struct tool_result){0};
	if (m->error != NULL) {
		if (number == RPC_INVALID_PARAMS &&
		    json_member(data, "uri") != NULL)
			number =
			    RPC_RESOURCE_NOT_FOUND; /* as before 2026-07-28 */
		snprintf(text, sizeof(text), "JSON-RPC %d", number);
		a->value = as_refusal(code != NULL ? code : text,
				      json_member_str(m->error, "message"));
		json_add(a->value, "details?O", data);
		return;
	}
	a->good = !json_member_bool(m->result, "isError");
	a->asks = json_member_is(m->result, "resultType", "input_required");
	if (a->asks) {
		a->value = json_object_get(m->result);
		return;
	}
	if (json_member(m->result, "contents") != NULL) { /* resources/read */
		a->value = json_object_get(json_object_array_get_idx(
		    json_member(m->result, "contents"), 0));
		return;
	}
	structured = json_member(m->result, "structuredContent");
	a->value = structured != NULL ? json_object_get(structured)
				      : read_text(m->result, a->good);
	if (!a->good && !json_object_is_type(a->value, json_type_object)) {
		json_object_put(a->value);
		a->value = as_refusal("TOOL_ERROR", NULL);
	}
}
