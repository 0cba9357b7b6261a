/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_result_content.c - the items after the first, for run_result.c: failed
 * steps of a partial success, artifacts not kept, and links to artifacts, each with
 * its picture. A model needs no further call to learn about these. All items but the
 * pictures are made from the view, so they are the same at once and after a restart.
 * A result too long for a
 * message is linked to in parts, each short enough for an answer of resources/read.
 */
#include "supervisor/session/result/run_result_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/result/resource_uri.h"

#define STEPS_NAMED 10	 /* failed steps to name; the view has all */
#define MISSING_NAMED 10 /* missing artifacts to name */
#define PARTS_LINKED 16	 /* usually 64 MiB; each part names the next as well */
#define WHY_BYTES 200	 /* of the reason for a step or artifact */

void run_result_add_text(struct json_object *content, const char *text)
{
	json_object_array_add(content,
			      json_pack("type:s text:s", "text", text));
}

/* Add TEXT, unless empty, and empty it. */
static void say_text(struct json_object *content, struct buf *text)
{
	if (buf_len(text) > 0) {
		buf_add(text, "", 1);
		run_result_add_text(content, buf_data(text));
	}
	buf_fini(text);
}

/* Add ": " and ERRMSG, shortened; NULL: no reason is known. */
static void add_why(struct buf *out, const char *errmsg)
{
	size_t n = errmsg != NULL ? strlen(errmsg) : 0;

	if (n > 0)
		buf_printf(out, ": %.*s%s", (int)utf8_cut(errmsg, n, WHY_BYTES),
			   errmsg, n > WHY_BYTES ? "…" : "");
}

/* ---- partial success ---- */

static bool is_failed(struct json_object *step)
{
	const char *status = json_member_str(step, "status");

	return status != NULL && strcmp(status, "failed") == 0;
}

static void say_steps(struct json_object *content, struct json_object *steps)
{
	size_t n = steps != NULL ? json_object_array_length(steps) : 0;
	struct buf named = {0}, all = {0};
	size_t failed = 0;

	json_each(step, steps) {
		struct json_object *error = json_member(step, "error");
		const char *code = json_member_str(error, "code");

		if (!is_failed(step) || failed++ >= STEPS_NAMED)
			continue;
		buf_printf(&named, "\n- %s", json_member_str(step, "name"));
		if (code != NULL)
			buf_printf(&named, ": %s", code);
		add_why(&named, json_member_str(error, "message"));
	}
	if (failed > STEPS_NAMED)
		buf_printf(&named, "\n- and %zu more", failed - STEPS_NAMED);
	buf_add_str(&all, "This is a partial success");
	if (failed > 0)
		buf_printf(&all,
			   ": %zu of %zu steps failed, so the result may "
			   "lack what they would have given:",
			   failed, n);
	buf_add(&all, buf_data(&named), buf_len(&named));
	buf_add_str(&all, failed > 0 ? "" : ".");
	say_text(content, &all);
	buf_fini(&named);
}

/* ---- artifacts not kept ---- */

static void say_missing(struct json_object *content, struct json_object *list)
{
	size_t n = list != NULL ? json_object_array_length(list) : 0;
	struct buf text = {0};
	int64_t more = 0;

	if (n == 0)
		return;
	buf_add_str(&text, "Of what this run made, this is not kept:");
	for (size_t i = 0; i < n; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		int64_t count = json_member_int(item, "count");

		if (i >= MISSING_NAMED) {
			more += count > 0 ? count : 1;
			continue;
		}
		buf_printf(&text, "\n- %s", json_member_str(item, "name"));
		if (count > 1)
			buf_printf(&text, " and %lld more",
				   (long long)count - 1);
		add_why(&text, json_member_str(item, "message"));
	}
	if (more > 0)
		buf_printf(&text, "\n- and %lld more", (long long)more);
	say_text(content, &text);
}

/* ---- artifacts ---- */

static struct json_object *link_of(struct json_object *artifact,
				   const char *run_id)
{
	struct json_object *o = json_object_new_object(), *v;
	char *uri = xasprintf(RESOURCE_URI_RUNS "%s/artifacts/%s", run_id,
			      json_member_str(artifact, "artifactId"));
	static const char *const same[] = {"name", "mimeType", "size"};

	json_add(o, "type:s uri:s", "resource_link", uri);
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if ((v = json_member(artifact, same[i])) != NULL)
			json_object_object_add(o, same[i], json_object_get(v));
	free(uri);
	return o;
}

/* Does the template's own content have a link to URI? */
static bool has_link(struct json_object *content, size_t n, const char *uri)
{
	for (size_t i = 0; i < n; i++) {
		const char *other = json_member_str(
		    json_object_array_get_idx(content, i), "uri");

		if (other != NULL && strcmp(other, uri) == 0)
			return true;
	}
	return false;
}

static void add_picture(struct json_object *content,
			const struct run_result_source *a,
			struct json_object *artifact)
{
	const struct run_picture *p =
	    a->pictures == NULL
		? NULL
		: run_pictures_find(a->pictures,
				    json_member_str(artifact, "artifactId"));
	char *data;

	if (p == NULL)
		return;
	data = xcalloc(1, BASE64_LEN(p->len) + 1);
	base64_encode(data, p->data, p->len);
	json_object_array_add(content, json_pack("type:s data:s mimeType:s",
						 "image", data, p->mime_type));
	free(data);
}

static void add_links(struct json_object *content,
		      const struct run_result_source *a,
		      struct json_object *artifacts, enum mcp_revision rev)
{
	size_t n = artifacts != NULL ? json_object_array_length(artifacts) : 0;
	size_t given = json_object_array_length(content);
	struct buf text = {0};

	for (size_t i = 0; i < n && i < RUN_RESULT_LINKS; i++) {
		struct json_object *artifact =
		    json_object_array_get_idx(artifacts, i);
		struct json_object *link = link_of(artifact, a->id);

		if (has_link(content, given, json_member_str(link, "uri"))) {
			json_object_put(link);
			continue;
		}
		if (mcp_has(rev, MCP_RESOURCE_LINKS)) {
			json_object_array_add(content, link);
		} else {
			if (buf_len(&text) == 0)
				buf_printf(&text, "This run left artifacts, "
						  "which resources/read and "
						  "get_artifact give:");
			buf_printf(&text, "\n- %s (%s, %lld bytes): %s",
				   json_member_str(link, "name"),
				   json_member_str(link, "mimeType"),
				   (long long)json_member_int(link, "size"),
				   json_member_str(link, "uri"));
			json_object_put(link);
		}
		add_picture(content, a, artifact);
	}
	if (n > RUN_RESULT_LINKS)
		buf_printf(&text,
			   "%s%zu more artifacts of this run are listed "
			   "by get_task_run, with the runId %s.",
			   buf_len(&text) > 0 ? "\n" : "", n - RUN_RESULT_LINKS,
			   a->id);
	say_text(content, &text);
}

void run_result_add_details(struct json_object *content,
			    const struct run_result_source *a,
			    struct part whole, enum mcp_revision rev)
{
	struct json_object *artifacts =
	    run_result_tree(run_result_part(whole, "artifacts"));
	struct json_object *missing =
	    run_result_tree(run_result_part(whole, "missingArtifacts"));
	struct json_object *steps = NULL;

	if (a->status == STORE_PARTIAL_SUCCESS) {
		steps = run_result_tree(run_result_part(whole, "steps"));
		say_steps(content, steps);
	}
	say_missing(content, missing);
	add_links(content, a, artifacts, rev);
	json_object_put(missing);
	json_object_put(artifacts);
	json_object_put(steps);
}

/* ---- the rest of a long result ---- */

char *run_result_uri(const struct run_result_source *a, bool is_view)
{
	return xasprintf(RESOURCE_URI_RUNS "%s%s", a->id,
			 is_view ? "" : "/result");
}

char *run_result_why_cut(const struct run_result_source *a, size_t bytes)
{
	return xasprintf(
	    "the whole has %zu bytes, and no message of this server "
	    "has more than %zu (its max_answer_bytes)",
	    bytes, a->max);
}

static void add_link(struct json_object *content, const char *uri,
		     const char *name, size_t bytes)
{
	json_object_array_add(content,
			      json_pack("type:s uri:s name:s mimeType:s size:i",
					"resource_link", uri, name,
					"application/json", bytes));
}

static void add_parts(struct json_object *content, const char *uri,
		      const char *name, size_t bytes, size_t each)
{
	size_t n = (bytes + each - 1) / each;

	for (size_t i = 0; i < n && i < PARTS_LINKED; i++) {
		char *part =
		    xasprintf("%s?offset=%zu&limit=%zu", uri, i * each, each);
		char *called = xasprintf("%s, part %zu of %zu", name, i + 1, n);

		add_link(content, part, called,
			 bytes - i * each < each ? bytes - i * each : each);
		free(part);
		free(called);
	}
}

void run_result_add_rest(struct json_object *content,
			 const struct run_result_source *a, const char *lead,
			 struct part whole, bool is_view, enum mcp_revision rev)
{
	const char *name = is_view ? "run" : "result";
	char *uri = run_result_uri(a, is_view),
	     *errmsg = run_result_why_cut(a, whole.len);
	size_t each = RESOURCE_URI_RANGE_BYTES(a->max);
	bool one = whole.len <= each, links = mcp_has(rev, MCP_RESOURCE_LINKS);
	char *text = xasprintf("%s Why: %s. %s %s%s.", lead, errmsg,
			       one ? "The whole is the resource"
				   : "The whole is read in parts, from",
			       uri, one ? "" : "?offset=0 on");

	run_result_add_text(content, text);
	if (links && one)
		add_link(content, uri, name, whole.len);
	else if (links)
		add_parts(content, uri, name, whole.len, each);
	free(text);
	free(errmsg);
	free(uri);
}
