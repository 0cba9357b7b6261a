/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_run_result.c - the answer for a run: the items, by revision, and the shorter forms
 * of a long answer.
 */
#include "supervisor/session/result/run_result.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

#define ID "run_aaaaaaaaaaaaaaaaaaaaaaaaaa"
#define MAX (2u << 20)
/* bytes of a result; no part except the result is long */
#define LONG (200u << 10)

#define VIEW_HEAD                                                               \
	"{\"runId\":\"" ID "\",\"templateId\":\"t\",\"status\":\"succeeded\","  \
	"\"steps\":[{\"name\":\"a\",\"status\":\"succeeded\"},{\"name\":\"b\"," \
	"\"status\":\"failed\",\"error\":{\"code\":\"NO_LUCK\",\"message\":"    \
	"\"bad day\"}}],\"artifacts\":[{\"artifactId\":\"art_b\",\"size\":2,"   \
	"\"name\":\"f\",\"mimeType\":\"text/plain\"}],\"result\":"

#define OF(what, how, ...)                                                     \
	{                                                                      \
		.form = STORE_TASK_##what, .status = STORE_##how, __VA_ARGS__  \
	}

/*
 * ITEMS: t is a text, l a link. STRUCTURED: the beginning; NULL: no structured content.
 */
static const struct {
	const char *name;
	struct run_result_source a;
	enum mcp_revision revision;
	const char *result; /* NULL: a long string in an object */
	const char *items, *structured;
	bool is_error;
} cases[] = {
    {"an output", OF(OUTPUT, SUCCEEDED), MCP_2025_11_25, "{\"n\":1}", "tl",
     "{\"n\":1}", false},
    {"in a revision without links", OF(OUTPUT, SUCCEEDED), MCP_2025_03_26,
     "{\"n\":1}", "tt", NULL, false},
    {"an output that is no object", OF(OUTPUT, SUCCEEDED), MCP_2025_11_25,
     "[1]", "tl", NULL, false},
    {"a partial success", OF(OUTPUT, PARTIAL_SUCCESS), MCP_2025_06_18,
     "{\"n\":1}", "ttl", "{\"n\":1}", false},
    {"a long output, once", OF(OUTPUT, SUCCEEDED, .level = 1), MCP_2025_11_25,
     NULL, "ttll", "{\"s\":\"xxx", false},
    {"a long output, linked to", OF(OUTPUT, SUCCEEDED, .level = 2),
     MCP_2025_11_25, NULL, "ttll",
     "{\"runId\":\"" ID "\",\"status\":\"succeeded\",\"mode\":\"link\","
     "\"resultUri\":\"paddock://runs/" ID "/result\"",
     false},
    {"a long output as text alone", OF(OUTPUT, SUCCEEDED, .level = 1),
     MCP_2024_11_05, NULL, "ttt", NULL, false},
    {"a view", OF(VIEW, SUCCEEDED), MCP_2025_11_25, "7", "tl", VIEW_HEAD "7}",
     false},
    {"of a failed run", OF(VIEW, FAILED), MCP_2025_11_25, "7", "tl",
     VIEW_HEAD "7}", true},
    {"of one that is asked about", OF(VIEW, FAILED, .looked_up = true),
     MCP_2025_11_25, "7", "tl", VIEW_HEAD "7}", false},
    {"a view again", OF(VIEW, SUCCEEDED, .deduplicated = true), MCP_2025_11_25,
     "7", "tl", VIEW_HEAD "7,\"deduplicated\":true}", false},
    {"a view with the node that ran it", OF(VIEW, SUCCEEDED, .node = "a\"b"),
     MCP_2025_11_25, "7", "tl", VIEW_HEAD "7,\"node\":\"a\\\"b\"}", false},
    {"a long view, once", OF(VIEW, SUCCEEDED, .level = 1), MCP_2025_11_25, NULL,
     "ttll", VIEW_HEAD "{\"s\":\"xxx", false},
    {"a long view without its result", OF(VIEW, SUCCEEDED, .level = 2),
     MCP_2025_11_25, NULL, "ttll", "{\"runId\":\"" ID "\",\"templateId\":\"t\"",
     false},
    {"a reply", OF(REPLY, SUCCEEDED), MCP_2025_11_25,
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "tl", NULL, false},
    {"a reply of content alone, of a tool that promises more",
     OF(REPLY, SUCCEEDED, .promised = true), MCP_2025_11_25,
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "tl",
     "{\"runId\":\"" ID "\",\"status\":\"succeeded\",\"mode\":\"content\"}",
     false},
    {"a reply with an error, unchecked", OF(REPLY, FAILED, .promised = true),
     MCP_2025_11_25,
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"isError\":true,"
     "\"structuredContent\":{\"n\":1}}",
     "ttl", NULL, true},
    {"the same of a tool that promises nothing", OF(REPLY, FAILED),
     MCP_2025_11_25,
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"isError\":true,"
     "\"structuredContent\":{\"n\":1}}",
     "tl", "{\"n\":1}", true},
    {"a reply that links to an artifact itself", OF(REPLY, SUCCEEDED),
     MCP_2025_11_25,
     "{\"content\":[{\"type\":\"resource_link\",\"name\":\"mine\",\"uri\":"
     "\"paddock://runs/" ID "/artifacts/art_b\"}]}",
     "l", NULL, false},
};

static char *long_result(void)
{
	char *s = xcalloc(LONG + 1, 1);
	char *text;

	memset(s, 'x', LONG);
	text = xasprintf("{\"s\":\"%s\"}", s);
	free(s);
	return text;
}

static void items_of(char *out, struct json_object *content)
{
	size_t n = json_object_array_length(content);

	for (size_t i = 0; i < n; i++) {
		const char *type = json_member_str(
		    json_object_array_get_idx(content, i), "type");

		*out++ = *(strcmp(type, "resource_link") == 0 ? "l" : type);
	}
	*out = '\0';
}

static void check(size_t i)
{
	char *result =
	    cases[i].result != NULL ? xstrdup(cases[i].result) : long_result();
	char *view = xasprintf("%s%s}", VIEW_HEAD, result), items[16];
	struct run_result_source a = cases[i].a;
	struct json_object *r, *structured;

	a.id = ID;
	a.view = view;
	a.max = MAX;
	r = run_result_make(&a, cases[i].revision);
	items_of(items, json_member(r, "content"));
	is_str(items, cases[i].items, "%s: its items", cases[i].name);
	structured = json_member(r, "structuredContent");
	ok((structured != NULL) == (cases[i].structured != NULL),
	   "  structuredContent where it is to be");
	if (structured != NULL && cases[i].structured != NULL)
		ok(strncmp(json_object_to_json_string_ext(
			       structured, JSON_C_TO_STRING_PLAIN |
					       JSON_C_TO_STRING_NOSLASHESCAPE),
			   cases[i].structured,
			   strlen(cases[i].structured)) == 0,
		   "structuredContent is what is expected");
	is_int(json_object_get_boolean(json_member(r, "isError")),
	       cases[i].is_error, "  an error, or none");
	json_object_put(r);
	free(view);
	free(result);
}

/* A result which is certainly too long is not tried at the lower levels. */
static void check_least(void)
{
	char *result = long_result(),
	     *view = xasprintf("%s%s}", VIEW_HEAD, result);
	struct run_result_source a = {.id = ID,
				      .form = STORE_TASK_OUTPUT,
				      .status = STORE_SUCCEEDED,
				      .view = view};
	static const struct {
		size_t max;
		const char *begins;
	} at[] = {{MAX, "{\"s\":\"x"},
		  {LONG * 3 / 2, "{\"s\":\"x"},
		  {LONG / 2, "{\"runId\":"}};

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct json_object *r, *first;
		size_t len;

		a.max = at[i].max;
		r = run_result_make(&a, MCP_2025_11_25);
		ok(strncmp(json_text(json_member(r, "structuredContent"), NULL),
			   at[i].begins, strlen(at[i].begins)) == 0,
		   "a message of %zu bytes", at[i].max);
		first = json_object_array_get_idx(json_member(r, "content"), 0);
		len = strlen(json_member_str(first, "text"));
		ok(i == 0 ? len > LONG : len <= 65536,
		   "the text of a message fits the bound");
		json_object_put(r);
	}
	free(view);
	free(result);
}

#define ALL_OF_IT "{\"s\":\"x"

/* A long result in messages of TIMES its bytes, and LESS: one byte decides. */
static const struct {
	enum mcp_revision revision;
	size_t times, less;
	const char *structured; /* the beginning; NULL: none */
	bool whole;		/* is the text? */
	const char *name;
} edges[] = {
    {MCP_2025_11_25, 2, 0, ALL_OF_IT, true, "a result that just fits twice"},
    {MCP_2025_11_25, 2, 1, ALL_OF_IT, false,
     "a result a byte too long to fit twice"},
    {MCP_2025_11_25, 1, 0, ALL_OF_IT, false, "a result that just fits once"},
    {MCP_2025_11_25, 1, 1, "{\"runId\":", false,
     "a result a byte too long to fit"},
    {MCP_2024_11_05, 1, 0, NULL, true, "a text that just fits"},
    {MCP_2024_11_05, 1, 1, NULL, false, "a text a byte too long to fit"},
};

static void check_edge(size_t i)
{
	char *result = long_result(),
	     *view = xasprintf("%s%s}", VIEW_HEAD, result);
	struct run_result_source a = {.id = ID,
				      .form = STORE_TASK_OUTPUT,
				      .status = STORE_SUCCEEDED,
				      .view = view,
				      .max = edges[i].times * strlen(result) -
					     edges[i].less};
	struct json_object *r = run_result_make(&a, edges[i].revision);
	struct json_object *o = json_member(r, "structuredContent");
	struct json_object *first =
	    json_object_array_get_idx(json_member(r, "content"), 0);
	const char *begins = edges[i].structured;

	ok(begins == NULL
	       ? o == NULL
	       : strncmp(json_text(o, NULL), begins, strlen(begins)) == 0,
	   "%s: the structure", edges[i].name);
	ok((strlen(json_member_str(first, "text")) == strlen(result)) ==
	       edges[i].whole,
	   "%s: the text", edges[i].name);
	json_object_put(r);
	free(view);
	free(result);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(i);
	check_least();
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		check_edge(i);
	return tap_done();
}
