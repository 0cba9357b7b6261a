/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_result.c - the tool result for a run which a tool made or is asked about.
 * session/response.c calls it, for tools and tasks. The first item is what
 * clients expect there: the output, the items of a reply, the view, or the
 * error. A result too long for a message is shortened.
 */
#include "supervisor/session/result/run_result.h"
#include "supervisor/session/result/run_result_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_write.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/record/run_json.h"

#define BLOCK_LEAST 256 /* bytes; with less room, further items are left out */

struct part run_result_part(struct part whole, const char *key)
{
	struct json_span at;

	if (whole.text == NULL ||
	    json_find(&at, whole.text, whole.len, key) < 0)
		return (struct part){0};
	return (struct part){whole.text + at.off, at.len};
}

struct json_object *run_result_tree(struct part part)
{
	struct json_object *tree = NULL;

	if (part.text != NULL)
		json_parse(&tree, part.text, part.len, NULL);
	return tree;
}

static bool ended_badly(const struct run_result_source *a)
{
	return a->status == STORE_FAILED || a->status == STORE_CANCELED;
}

/* ---- long results ---- */

/* Return how much of VALUE's text, which is UTF-8, fits the level. */
static size_t beginning(const struct run_result_source *a, struct part value)
{
	static const size_t most[] = {SIZE_MAX, 65536, 4096};

	return utf8_cut(value.text, value.len,
			value.len < most[a->level] ? value.len
						   : most[a->level]);
}

/*
 * Say that the first item of RESULT has LEN bytes of WHOLE, and where the rest
 * is. KEPT: structuredContent has all.
 */
static void say_cut(struct json_object *result,
		    const struct run_result_source *a, size_t len,
		    struct part whole, bool is_view, bool kept,
		    enum mcp_revision revision)
{
	struct json_object *content = json_member(result, "content");
	char *lead = xasprintf("The text above is the beginning alone, %zu of "
			       "%zu bytes%s.",
			       len, whole.len,
			       kept ? "; structuredContent has all of it" : "");

	run_result_add_rest(content, a, lead, whole, is_view, revision);
	free(lead);
}

/* Add to O where VALUE is, which O does not have. */
static void point_to(struct json_object *o, const struct run_result_source *a,
		     struct part value)
{
	char *uri = run_result_uri(a, false),
	     *errmsg = run_result_why_cut(a, value.len);

	json_add(o, "resultUri:s resultBytes:i resultOmitted:s", uri, value.len,
		 errmsg);
	free(uri);
	free(errmsg);
}

/* Make a handle in place of the output VALUE; each outputSchema allows it. */
static struct json_object *link_handle(const struct run_result_source *a,
				       struct part value)
{
	struct json_object *o = run_json_ended_handle(a->id, a->status, "link");

	point_to(o, a, value);
	return o;
}

/* ---- the result of a template's own tool ---- */

/* Add the text of VALUE to CONTENT. Returns whether all of it fitted. */
static bool say_value(struct json_object *content, struct json_object *value,
		      const struct run_result_source *a)
{
	struct part all = {0};
	size_t len;
	char *text;

	all.text = json_text(value, &all.len);
	len = beginning(a, all);
	text = xstrndup(all.text, len);
	run_result_add_text(content, text);
	free(text);
	return len == all.len;
}

/*
 * Return structuredContent for a reply. A tool with an outputSchema has to fit
 * it, or clients drop the answer: a reply without STRUCTURED gets a handle of
 * the run, which each such schema allows. Content of an error is not checked,
 * and goes as text alone.
 */
static struct json_object *fitting(const struct run_result_source *a,
				   struct json_object *structured,
				   bool is_error)
{
	if (!a->promised)
		return json_object_get(structured);
	if (is_error)
		return NULL;
	return structured != NULL
		   ? json_object_get(structured)
		   : run_json_ended_handle(a->id, a->status, "content");
}

/*
 * Return BLOCK, or a short text if BLOCK is longer than *ROOM bytes. Reduces
 * *ROOM.
 */
static struct json_object *block_within(struct json_object *block, size_t *room)
{
	const char *text = json_member_str(block, "text");
	const char *type = json_member_str(block, "type");
	struct json_object *o;
	size_t len;
	char *said;

	json_text(block, &len);
	if (len <= *room) {
		*room -= len;
		return json_object_get(block);
	}
	if (strcmp(type, "text") == 0 && text != NULL)
		said = xasprintf("%.*s…",
				 (int)utf8_cut(text, strlen(text), *room / 8),
				 text);
	else
		said = xasprintf("[%s: %zu bytes, too long for this message]",
				 type, len);
	*room = *room / 8 * 7;
	o = json_pack("type:s text:s", "text", said);
	free(said);
	return o;
}

/*
 * Add the blocks GIVEN, as many as fit. Returns whether all were added whole.
 */
static bool add_blocks(struct json_object *content, struct json_object *given,
		       const struct run_result_source *a,
		       enum mcp_revision revision)
{
	static const size_t rooms[] = {SIZE_MAX, 262144, 65536};
	size_t n = given != NULL ? json_object_array_length(given) : 0;
	size_t room = rooms[a->level];
	bool all = true;

	for (size_t i = 0; i < n && room > BLOCK_LEAST; i++) {
		struct json_object *block = mcp_block_for(
		    json_object_array_get_idx(given, i), revision);
		struct json_object *within = a->level == 0
						 ? json_object_get(block)
						 : block_within(block, &room);

		all = all && within == block;
		json_object_array_add(content, within);
		json_object_put(block);
	}
	return all && json_object_array_length(content) == n;
}

/* Make the result of a reply: the template made the whole tool result. */
static struct json_object *reply(const struct run_result_source *a,
				 struct part value, enum mcp_revision revision)
{
	struct json_object *tree = run_result_tree(value), *fits;
	struct json_object *result = json_object_new_object();
	struct json_object *given = json_member(tree, "content");
	struct json_object *structured = json_member(tree, "structuredContent");
	struct json_object *content = json_object_new_array();
	bool bad = json_object_get_boolean(json_member(tree, "isError"));
	bool told =
	    structured != NULL && (given == NULL || (bad && a->promised));
	bool all = add_blocks(content, given, a, revision);

	if (told)
		all = say_value(content, structured, a) && all;
	if (a->level == 2 && structured != NULL)
		fits = bad ? NULL : link_handle(a, value);
	else
		fits = fitting(a, structured, bad);
	if (!all || (a->level == 2 && structured != NULL))
		run_result_add_rest(
		    content, a,
		    "What the template answered is cut short, or left "
		    "out in part.",
		    value, false, revision);
	json_add(result, "content:o", content);
	if (fits != NULL && mcp_has(revision, MCP_STRUCTURED))
		json_add(result, "structuredContent:o", fits);
	else
		json_object_put(fits);
	json_add(result, "isError?b", bad);
	json_object_put(tree);
	return result;
}

static struct json_object *plain(const struct run_result_source *a,
				 struct part value, enum mcp_revision revision)
{
	bool object = value.text != NULL && value.text[0] == '{' &&
		      mcp_has(revision, MCP_STRUCTURED);
	bool kept = object && a->level < 2;
	struct json_object *result;
	size_t len;

	if (value.text == NULL)
		value = (struct part){"null", strlen("null")};
	len = beginning(a, value);
	result = mcp_tool_result(value.text, len, kept ? value.text : NULL,
				 value.len, false);
	if (len < value.len)
		say_cut(result, a, len, value, false, kept, revision);
	if (object && !kept)
		json_add(result, "structuredContent:o", link_handle(a, value));
	return result;
}

static struct json_object *refused_part(const struct run_result_source *a,
					struct part error)
{
	struct json_object *code =
	    run_result_tree(run_result_part(error, "errorCode"));
	struct json_object *errmsg =
	    run_result_tree(run_result_part(error, "message"));
	struct json_object *details =
	    run_result_tree(run_result_part(error, "details"));
	struct json_object *o, *result;
	const char *text;
	size_t len;

	if (details == NULL)
		details = json_object_new_object();
	/* last: other details come from a worker */
	json_add(details, "runId:s status:s", a->id,
		 run_json_status(a->status));
	o = tool_error_json(json_object_get_string(code),
			    json_object_get_string(errmsg), details);
	text = json_text(o, &len);
	result = mcp_tool_result(text, len, NULL, 0, true);
	json_object_put(o);
	json_object_put(code);
	json_object_put(errmsg);
	json_object_put(details);
	return result;
}

/* ---- the view of a run ---- */

#define RESULT_KEY ",\"result\":"

/*
 * Return the view WHOLE without its result VALUE (may be absent), or NULL if
 * not found.
 */
static struct json_object *less_result(struct part whole, struct part value)
{
	const size_t key = strlen(RESULT_KEY);
	struct buf rest = {0};
	struct json_object *o;
	const char *from;

	if (value.text == NULL)
		return run_result_tree(whole);
	if ((size_t)(value.text - whole.text) <= key ||
	    memcmp(value.text - key, RESULT_KEY, key) != 0)
		return NULL; /* not in the form written by paddockd */
	from = value.text - key;
	buf_add(&rest, whole.text, (size_t)(from - whole.text));
	buf_add_str(&rest, value.text + value.len);
	o = run_result_tree((struct part){buf_data(&rest), buf_len(&rest)});
	buf_fini(&rest);
	return o;
}

static struct json_object *slim_view(const struct run_result_source *a,
				     struct part whole)
{
	static const char *const long_keys[] = {"steps", "artifacts"};
	struct part value = run_result_part(whole, "result");
	struct json_object *view = less_result(whole, value);
	size_t len;

	if (view == NULL)
		view = run_json_ended_handle(a->id, a->status, "link");
	for (size_t i = 0; i < ARRAY_LEN(long_keys); i++) {
		json_text(json_member(view, long_keys[i]), &len);
		if (len > a->max / 8)
			json_object_object_del(view, long_keys[i]);
	}
	if (value.text != NULL)
		point_to(view, a, value);
	json_add(view, "deduplicated?b node?s", a->deduplicated, a->node);
	return view;
}

/*
 * Make the result of a view. WHOLE is not parsed: it may be too large for a
 * tree.
 */
static struct json_object *viewed(const struct run_result_source *a,
				  struct part whole, enum mcp_revision revision)
{
	bool structured = mcp_has(revision, MCP_STRUCTURED);
	bool kept = structured && a->level < 2;
	struct part given = whole;
	struct json_object *result;
	struct buf more = {0};
	size_t len;

	if (a->deduplicated || a->node != NULL) {
		buf_add(&more, whole.text, whole.len - 1);
		json_write(&more, "deduplicated?b node?s", a->deduplicated,
			   a->node);
		json_close(&more);
		given = (struct part){buf_data(&more), buf_len(&more)};
	}
	len = beginning(a, given);
	result = mcp_tool_result(given.text, len, kept ? given.text : NULL,
				 given.len, ended_badly(a) && !a->looked_up);
	if (len < given.len)
		say_cut(result, a, len, whole, true, kept, revision);
	if (structured && !kept)
		json_add(result, "structuredContent:o", slim_view(a, whole));
	buf_fini(&more);
	return result;
}

/* ---- results of all forms ---- */

/* Make the result of a call; VALUE is the result in WHOLE. */
static struct json_object *called(const struct run_result_source *a,
				  struct part whole, struct part value,
				  enum mcp_revision revision)
{
	bool none =
	    value.text == NULL || strncmp(value.text, "null", value.len) == 0;
	struct json_object *result;

	if (a->form == STORE_TASK_REPLY && !none && a->status != STORE_CANCELED)
		result = reply(a, value, revision);
	else if (ended_badly(a))
		return refused_part(a, run_result_part(whole, "error"));
	else
		result = plain(a, value, revision);
	/* clients find the run of a template's tool by the id */
	json_add(result, "_meta:o",
		 json_pack("paddock/runId:s paddock/status:s", a->id,
			   run_json_status(a->status)));
	return result;
}

struct json_object *run_result_error(const struct run_result_source *a)
{
	struct part whole = {a->view, strlen(a->view)};

	if (a->form != STORE_TASK_REPLY || a->status != STORE_FAILED)
		return NULL;
	return run_result_tree(
	    run_result_part(run_result_part(whole, "result"), "error"));
}

/*
 * Return the first level at which LEN bytes may fit; lower levels need no try.
 * TWICE: the bytes come as text and as structure.
 */
static unsigned least_level(const struct run_result_source *a, size_t len,
			    bool twice)
{
	unsigned least = twice && len > a->max			       ? 2
			 : len > a->max || (twice && 2 * len > a->max) ? 1
								       : 0;

	return a->level > least ? a->level : least;
}

struct json_object *run_result_make(const struct run_result_source *a,
				    enum mcp_revision revision)
{
	bool is_view = a->form == STORE_TASK_VIEW;
	struct part whole = {a->view, strlen(a->view)};
	struct part value = is_view ? whole : run_result_part(whole, "result");
	struct run_result_source at = *a;
	struct json_object *result;

	at.level = least_level(a, value.len,
			       mcp_has(revision, MCP_STRUCTURED) &&
				   a->form != STORE_TASK_REPLY);
	result = is_view ? viewed(&at, whole, revision)
			 : called(&at, whole, value, revision);
	run_result_add_details(json_member(result, "content"), a, whole,
			       revision);
	return result;
}
