#include "proto/mcp.h"

#include <string.h>

#include "base/mem.h"
#include "proto/json.h"

static const char *const revisions[MCP_REVISIONS] = {
    [MCP_2024_11_05] = "2024-11-05",
    [MCP_2025_03_26] = "2025-03-26",
    [MCP_2025_06_18] = "2025-06-18",
    [MCP_2025_11_25] = "2025-11-25",
};

const char *mcp_revision_name(enum mcp_revision rev)
{
	return revisions[rev];
}

enum mcp_revision mcp_negotiate(const char *name)
{
	for (int i = 0; name != NULL && i < MCP_REVISIONS; i++)
		if (strcmp(revisions[i], name) == 0)
			return (enum mcp_revision)i;
	return MCP_LATEST;
}

struct json_object *mcp_raw(const char *text, size_t len)
{
	struct json_object *o = json_object_new_object();

	json_object_set_serializer(o, json_object_userdata_to_json_string,
				   xstrndup(text, len),
				   json_object_free_userdata);
	return o;
}

struct json_object *mcp_tool_result(const char *text, size_t len,
				    const char *structured,
				    size_t structured_len, bool is_error)
{
	struct json_object *result = json_object_new_object();
	struct json_object *content = json_object_new_array_ext(1);
	struct json_object *block = json_object_new_object();

	json_object_object_add(block, "type", json_object_new_string("text"));
	json_object_object_add(block, "text",
			       json_object_new_string_len(text, (int)len));
	json_object_array_add(content, block);
	json_object_object_add(result, "content", content);
	if (structured != NULL)
		json_object_object_add(result, "structuredContent",
				       mcp_raw(structured, structured_len));
	if (is_error)
		json_object_object_add(result, "isError",
				       json_object_new_boolean(true));
	return result;
}

/* ContentBlock of the schema: what each type must have. */
static const struct {
	const char *type;
	const char *strings[2];
	const char *object; /* NULL: none */
	const char *expected;
} blocks[] = {
    {"text", {"text"}, NULL, "a text block with text, a string"},
    {"image", {"data", "mimeType"}, NULL,
     "an image block with data and mimeType, strings"},
    {"audio", {"data", "mimeType"}, NULL,
     "an audio block with data and mimeType, strings"},
    {"resource_link", {"uri", "name"}, NULL,
     "a resource_link block with uri and name, strings"},
    {"resource", {NULL}, "resource",
     "a resource block with resource, an object with uri and text or blob"},
};

static const char *block_fault(struct json_object *block)
{
	const char *type = json_member_str(block, "type");

	for (size_t i = 0; type != NULL && i < ARRAY_LEN(blocks); i++) {
		struct json_object *inner;

		if (strcmp(type, blocks[i].type) != 0)
			continue;
		for (size_t k = 0; k < 2 && blocks[i].strings[k] != NULL; k++)
			if (json_member_str(block, blocks[i].strings[k]) == NULL)
				return blocks[i].expected;
		if (blocks[i].object == NULL)
			return NULL;
		inner = json_member(block, blocks[i].object);
		return json_member_str(inner, "uri") != NULL &&
			       (json_member_str(inner, "text") != NULL ||
				json_member_str(inner, "blob") != NULL)
			   ? NULL
			   : blocks[i].expected;
	}
	return "a block of type text, image, audio, resource_link or resource";
}

int mcp_content_fault(struct json_object *content, const char **expected)
{
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		*expected = block_fault(json_object_array_get_idx(content, i));
		if (*expected != NULL)
			return (int)i;
	}
	return -1;
}

struct json_object *mcp_progress_token(struct json_object *params)
{
	struct json_object *token =
	    json_member(json_member(params, "_meta"), "progressToken");

	return json_object_is_type(token, json_type_string) ||
		       json_object_is_type(token, json_type_int)
		   ? token
		   : NULL;
}

struct json_object *mcp_progress(struct json_object *token, uint64_t progress,
				 uint64_t total, const char *message)
{
	struct json_object *p = json_object_new_object();

	json_object_object_add(p, "progressToken", json_object_get(token));
	json_object_object_add(p, "progress",
			       json_object_new_uint64(progress));
	if (total > 0)
		json_object_object_add(p, "total",
				       json_object_new_uint64(total));
	if (message != NULL)
		json_object_object_add(p, "message",
				       json_object_new_string(message));
	return p;
}
