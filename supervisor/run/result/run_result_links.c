/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_result_links.c - links to the parts which do not fit into an answer, for
 * run_result.c. A result too long for a message is linked to in parts, each
 * short enough for an answer of resources/read.
 */
#include "supervisor/run/result/run_result_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "supervisor/run/resource_uri.h"
#include "proto/json/json_pack.h"

#define PARTS_LINKED 16 /* usually 64 MiB; each part names the next as well */

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
