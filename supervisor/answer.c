/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/answer.h"

#include <stdbool.h>
#include <string.h>

#include "proto/json.h"
#include "supervisor/refusal.h"
#include "supervisor/view.h"

/* A part of a view, as text: the whole need not fit into a tree. */
struct part {
	const char *text; /* NULL: there is none */
	size_t len;
};

static struct part part_of(struct part whole, const char *key)
{
	struct json_span at;

	if (whole.text == NULL ||
	    json_find(&at, whole.text, whole.len, key) < 0)
		return (struct part){0};
	return (struct part){whole.text + at.off, at.len};
}

static struct json_object *tree_of(struct part part)
{
	struct json_object *tree = NULL;

	if (part.text != NULL)
		json_parse(&tree, part.text, part.len, NULL);
	return tree;
}

static bool ended_badly(const struct answer_source *a)
{
	return a->status == STORE_FAILED || a->status == STORE_CANCELED;
}

/* The run behind a template's own tool is found again by this. */
static void add_run_id(struct json_object *result, const struct answer_source *a)
{
	struct json_object *meta = json_object_new_object();

	json_object_object_add(meta, "paddock/runId",
			       json_object_new_string(a->id));
	json_object_object_add(meta, "paddock/status",
			       json_object_new_string(view_status(a->status)));
	json_object_object_add(result, "_meta", meta);
}

static struct json_object *text_block(struct json_object *value)
{
	struct json_object *block = json_object_new_object();
	size_t len;
	const char *text = json_text(value, &len);

	json_object_object_add(block, "type", json_object_new_string("text"));
	json_object_object_add(block, "text",
			       json_object_new_string_len(text, (int)len));
	return block;
}

/* The template made the whole tool result; content is what it must have. */
static struct json_object *reply(struct part value, enum mcp_revision revision)
{
	struct json_object *tree = tree_of(value);
	struct json_object *result = json_object_new_object();
	struct json_object *given = json_member(tree, "content");
	struct json_object *structured = json_member(tree, "structuredContent");
	struct json_object *content = json_object_new_array();
	size_t n = given != NULL ? json_object_array_length(given) : 0;

	for (size_t i = 0; i < n; i++)
		json_object_array_add(
		    content, mcp_block_for(json_object_array_get_idx(given, i),
					   revision));
	if (given == NULL && structured != NULL)
		json_object_array_add(content, text_block(structured));
	json_object_object_add(result, "content", content);
	if (structured != NULL && mcp_has(revision, MCP_STRUCTURED))
		json_object_object_add(result, "structuredContent",
				       json_object_get(structured));
	if (json_object_get_boolean(json_member(tree, "isError")))
		json_object_object_add(result, "isError",
				       json_object_new_boolean(true));
	json_object_put(tree);
	return result;
}

static struct json_object *plain(struct part value, enum mcp_revision revision)
{
	bool object = value.text != NULL && value.text[0] == '{';

	if (value.text == NULL)
		value = (struct part){"null", strlen("null")};
	return mcp_tool_result(value.text, value.len,
			       object && mcp_has(revision, MCP_STRUCTURED)
				   ? value.text
				   : NULL,
			       value.len, false);
}

static struct json_object *refused(const struct answer_source *a,
				   struct part error)
{
	struct json_object *code = tree_of(part_of(error, "errorCode"));
	struct json_object *why = tree_of(part_of(error, "message"));
	struct json_object *details = tree_of(part_of(error, "details"));
	struct json_object *o, *result;
	const char *text;
	size_t len;

	if (details == NULL)
		details = json_object_new_object();
	/* last: the other details are a worker's */
	json_object_object_add(details, "runId", json_object_new_string(a->id));
	json_object_object_add(details, "status",
			       json_object_new_string(view_status(a->status)));
	o = refusal_json(json_object_get_string(code),
			 json_object_get_string(why), details);
	text = json_text(o, &len);
	result = mcp_tool_result(text, len, NULL, 0, true);
	json_object_put(o);
	json_object_put(code);
	json_object_put(why);
	json_object_put(details);
	return result;
}

struct json_object *answer_make(const struct answer_source *a,
				enum mcp_revision revision)
{
	struct part whole = {a->view, strlen(a->view)};
	struct part value = part_of(whole, "result");
	bool bad = ended_badly(a), none = value.text == NULL;
	struct json_object *result;

	if (a->form == STORE_TASK_VIEW)
		return mcp_tool_result(
		    a->view, whole.len,
		    mcp_has(revision, MCP_STRUCTURED) ? a->view : NULL, whole.len,
		    bad);
	none = none || strncmp(value.text, "null", value.len) == 0;
	if (a->form == STORE_TASK_REPLY && !none && a->status != STORE_CANCELED)
		result = reply(value, revision);
	else if (bad)
		return refused(a, part_of(whole, "error"));
	else
		result = plain(value, revision);
	add_run_id(result, a);
	return result;
}
