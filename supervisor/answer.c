/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - what is answered of a run that a tool made or is asked about, for
 * contract_make.c, contract_runs.c and tasks.c. The first item is what clients
 * expect there: the output, the reply's own, the view, or why it failed.
 */
#include "supervisor/answer.h"
#include "supervisor/answer_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json.h"
#include "supervisor/refusal.h"
#include "supervisor/view.h"

struct part answer_part(struct part whole, const char *key)
{
	struct json_span at;

	if (whole.text == NULL ||
	    json_find(&at, whole.text, whole.len, key) < 0)
		return (struct part){0};
	return (struct part){whole.text + at.off, at.len};
}

struct json_object *answer_tree(struct part part)
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

static void say_value(struct json_object *content, struct json_object *value)
{
	answer_say(content, json_text(value, NULL));
}

/*
 * A tool with an outputSchema answers by it, or clients throw its answer away.
 * Such a reply that has no structuredContent gets what each such schema allows:
 * which run it is of. An error's was not checked, and goes as text alone.
 */
static struct json_object *fitting(const struct answer_source *a,
				   struct json_object *structured, bool is_error)
{
	if (!a->promised)
		return json_object_get(structured);
	if (is_error)
		return NULL;
	return structured != NULL ? json_object_get(structured)
				  : view_content_handle(a->id, a->status);
}

/* The template made the whole tool result; content is what it must have. */
static struct json_object *reply(const struct answer_source *a,
				 struct part value, enum mcp_revision revision)
{
	struct json_object *tree = answer_tree(value), *fits;
	struct json_object *result = json_object_new_object();
	struct json_object *given = json_member(tree, "content");
	struct json_object *structured = json_member(tree, "structuredContent");
	struct json_object *content = json_object_new_array();
	bool bad = json_object_get_boolean(json_member(tree, "isError"));
	size_t n = given != NULL ? json_object_array_length(given) : 0;

	for (size_t i = 0; i < n; i++)
		json_object_array_add(
		    content, mcp_block_for(json_object_array_get_idx(given, i),
					   revision));
	if (structured != NULL && (given == NULL || (bad && a->promised)))
		say_value(content, structured);
	json_object_object_add(result, "content", content);
	fits = fitting(a, structured, bad);
	if (fits != NULL && mcp_has(revision, MCP_STRUCTURED))
		json_object_object_add(result, "structuredContent", fits);
	else
		json_object_put(fits);
	if (bad)
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
	struct json_object *code = answer_tree(answer_part(error, "errorCode"));
	struct json_object *why = answer_tree(answer_part(error, "message"));
	struct json_object *details = answer_tree(answer_part(error, "details"));
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

/* The whole view; it need not fit into a tree, nor need it with one more. */
static struct json_object *viewed(const struct answer_source *a,
				  struct part whole, enum mcp_revision revision)
{
	bool structured = mcp_has(revision, MCP_STRUCTURED);
	struct json_object *result;
	char *again = NULL;

	if (a->deduplicated) {
		again = xasprintf("%.*s,\"deduplicated\":true}",
				  (int)whole.len - 1, whole.text);
		whole = (struct part){again, strlen(again)};
	}
	result = mcp_tool_result(whole.text, whole.len,
				 structured ? whole.text : NULL, whole.len,
				 ended_badly(a) && !a->looked_up);
	free(again);
	return result;
}

static struct json_object *called(const struct answer_source *a,
				  struct part whole, enum mcp_revision revision)
{
	struct part value = answer_part(whole, "result");
	bool none = value.text == NULL ||
		    strncmp(value.text, "null", value.len) == 0;
	struct json_object *result;

	if (a->form == STORE_TASK_REPLY && !none && a->status != STORE_CANCELED)
		result = reply(a, value, revision);
	else if (ended_badly(a))
		return refused(a, answer_part(whole, "error"));
	else
		result = plain(value, revision);
	add_run_id(result, a);
	return result;
}

struct json_object *answer_make(const struct answer_source *a,
				enum mcp_revision revision)
{
	struct part whole = {a->view, strlen(a->view)};
	struct json_object *result = a->form == STORE_TASK_VIEW
					 ? viewed(a, whole, revision)
					 : called(a, whole, revision);

	answer_more(json_member(result, "content"), a, whole, revision);
	return result;
}
