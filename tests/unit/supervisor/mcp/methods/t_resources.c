/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_resources.c - resources/list and resources/read: runs, logs, results and artifacts of a
 * requestor, and the resources of templates, whole and in parts.
 */
#include "supervisor/mcp/methods/resources.h"
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/run_log.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define FIRST "/result/contents/0"
#define ISO "paddock://isolation"
#define RESOURCES                                                              \
	"\"resources\":["                                                      \
	"{\"uri\":\"talk://text\",\"name\":\"text\",\"title\":\"Text\","       \
	"\"text\":\"Hello {name}\",\"mimeType\":\"text/plain\"},"              \
	"{\"uri\":\"talk://file\",\"name\":\"file\",\"file\":\"data.bin\"},"   \
	"{\"uriTemplate\":\"talk://to/{name}\",\"name\":\"to\","               \
	"\"text\":\"Hello {name}\"}]"

static struct client ada, bob, few, old, new;

static void begin(void)
{
	server_begin("[requestor \"few\"]\nuid = 9\ntemplates = none\n"
		     "[limits]\nmax_artifact_inline_bytes = 16\n");
	server_package("talk", "1.0.0", RESOURCES);
	server_file("talk", "1.0.0", "data.bin", "\xff\x01");
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&bob, 8, MCP_2025_11_25);
	client_begin(&few, 9, MCP_2025_11_25);
	client_begin(&old, 7, MCP_2024_11_05);
	client_begin(&new, 7, MCP_2026_07_28);
}

static void end(void)
{
	client_end(&ada);
	client_end(&bob);
	client_end(&few);
	client_end(&old);
	client_end(&new);
	server_end();
}

static struct json_object *read_uri(struct client *c, const char *uri)
{
	return client_call(c, "resources/read", "{\"uri\":\"%s\"}", uri);
}

static struct json_object *read_run(struct client *c, const char *id,
				    const char *more)
{
	return client_call(c, "resources/read",
			   "{\"uri\":\"paddock://runs/%s%s\"}", id, more);
}

static void not_found(struct json_object *answer, const char *name)
{
	is_int(atoi(at(answer, "/error/code")), RPC_RESOURCE_NOT_FOUND,
	       "%s is not found", name);
}

/* Start a run of ada's; its id is lent until the next. */
static const char *started(void)
{
	static char id[ID_SIZE];
	struct json_object *answer =
	    client_tool(&ada, "run_task_template",
			"{\"templateId\":\"talk\",\"inputs\":{},"
			"\"options\":{\"mode\":\"async\"}}");

	snprintf(id, sizeof(id), "%s", tool_at(answer, "/runId"));
	return id;
}

/* ---- lists ---- */

TEST(list)
{
	struct json_object *answer;

	begin();
	answer = client_call(&ada, "resources/list", "{}");
	is_str(at(answer, "/result/resources/0/uri"), ISO,
	       "paddock's own resources are listed first");
	is_str(at(answer, "/result/resources/1/uri"), "talk://text",
	       "resources of templates are listed as in the manifest");
	is_str(at(answer, "/result/resources/1/title"), "Text",
	       "a resource is listed with its title");
	is_str(at(answer, "/result/resources/1/text"), NULL,
	       "a resource is listed without its text");
	is_str(at(answer, "/result/resources/3"), NULL,
	       "a resource with names in its URI is in the other list");
	is_str(at(client_call(&old, "resources/list", "{}"),
		  "/result/resources/1/title"),
	       NULL, "a revision without titles is listed none");
	is_str(at(client_call(&few, "resources/list", "{}"),
		  "/result/resources/1"),
	       NULL, "a requestor is listed no resource it may not read");
	answer = client_call(&ada, "resources/templates/list", "{}");
	is_str(at(answer, "/result/resourceTemplates/0/uriTemplate"),
	       "paddock://runs/{runId}",
	       "paddock's own templates of URIs are listed first");
	is_str(at(answer, "/result/resourceTemplates/4/uriTemplate"),
	       "talk://to/{name}",
	       "a resource with names in its URI is a template of URIs");
	is_str(at(client_call(&few, "resources/templates/list", "{}"),
		  "/result/resourceTemplates/4"),
	       NULL, "a requestor is listed no URI that it may not read");
	end();
}

/* ---- resources of templates ---- */

TEST(of_a_template)
{
	struct json_object *answer;

	begin();
	answer = read_uri(&ada, "talk://text");
	is_str(at(answer, FIRST "/text"), "Hello {name}",
	       "a text without names in its URI is given as it is");
	is_str(at(answer, FIRST "/mimeType"), "text/plain",
	       "a text is given with its type");
	is_str(at(answer, FIRST "/uri"), "talk://text",
	       "a resource is given with its URI");
	is_str(at(read_uri(&ada, "talk://file"), FIRST "/blob"),
	       "/wE=", "a file that is no UTF-8 is given in base64");
	is_str(at(read_uri(&ada, "talk://to/Bob%20B"), FIRST "/text"),
	       "Hello Bob B", "the names of a URI are filled in");
	not_found(read_uri(&ada, "talk://to/a/b"),
		  "a URI with more parts than its template");
	not_found(read_uri(&ada, "talk://none"), "an unknown URI");
	not_found(read_uri(&few, "talk://text"),
		  "a resource of a template that a requestor may not see");
	is_str(at(client_call(&ada, "resources/read", "{}"), "/error/code"),
	       "-32602", "resources/read without a URI is refused");
	is_int((int64_t)few.session.requestor->lookups_failed, 1,
	       "a look-up of a resource that is not there is counted");
	end();
}

TEST(find)
{
	char uri[RESOURCES_URI_MAX + 2] = "talk://to/";
	struct json_object *values;

	begin();
	ok(resources_find(&ada.session, "talk://text", &values) ==
		   &server.context.catalogue->offers->resources.all[0] &&
	       values == NULL,
	   "a resource is found by its URI, without values");
	ok(resources_find(&ada.session, "talk://to/x", &values) != NULL,
	   "a resource is found by a URI that fits its template");
	is_str(at(values, "/name"), "x", "the values of a URI are returned");
	json_object_put(values);
	ok(resources_find(&few.session, "talk://to/x", &values) == NULL &&
	       values == NULL,
	   "no resource is found for a requestor who may not see it");
	memset(uri + strlen(uri), 'x', RESOURCES_URI_MAX - strlen(uri));
	ok(resources_find(&ada.session, uri, &values) != NULL,
	   "a URI of the greatest length is looked for");
	json_object_put(values);
	uri[RESOURCES_URI_MAX] = 'x';
	ok(resources_find(&ada.session, uri, &values) == NULL,
	   "a URI beyond the greatest length is not looked for");
	json_object_put(values);
	end();
}

TEST(contents)
{
	struct json_object *o;

	o = resources_contents("a:b", "text/plain", "a\0b", 3);
	is_int(json_object_get_string_len(json_member(o, "text")), 3,
	       "a text with a NUL is whole");
	is_str(json_member_str(o, "uri"), "a:b", "contents have a URI");
	json_object_put(o);
	o = resources_contents("a:b", NULL, "\xff", 1);
	is_str(json_member_str(o, "blob"), "/w==", "other bytes are a blob");
	ok(json_member(o, "mimeType") == NULL,
	   "contents without a type have none");
	json_object_put(o);
}

/* ---- runs ---- */

TEST(runs)
{
	struct json_object *answer;
	const char *id;

	begin();
	id = started();
	answer = read_run(&ada, id, "");
	ok(strstr(at(answer, FIRST "/text"), "\"queued\"") != NULL,
	   "an open run is read as it is");
	not_found(read_run(&bob, id, ""), "another requestor's open run");
	answer = read_run(&ada, id, "/result");
	ok(strstr(at(answer, "/error/message"), "queued") != NULL,
	   "an open run has no result, and the refusal has its status");
	server_run_end(server_run(), "{\"n\":[1,2]}");
	answer = read_run(&ada, id, "");
	ok(strstr(at(answer, FIRST "/text"), "\"succeeded\"") != NULL,
	   "an ended run is read from its row");
	is_str(at(answer, FIRST "/mimeType"), "application/json",
	       "a run is read as JSON");
	is_str(at(read_run(&ada, id, "/result"), FIRST "/text"),
	       "{\"n\":[1,2]}", "the result of a run is read alone");
	not_found(read_run(&bob, id, "/result"),
		  "the result of another requestor's run");
	not_found(read_run(&ada, "run_none", ""), "a run with a malformed id");
	id = started();
	server_run_fail(server_run(), "EXECUTION_ERROR", "the worker broke");
	answer = read_run(&ada, id, "/result");
	ok(strstr(at(answer, "/error/message"), "gave no result") != NULL,
	   "a run that failed has no result to read");
	end();
}

TEST(parts_of_a_result)
{
	struct json_object *answer;
	const char *id;

	begin();
	id = started();
	server_run_end(server_run(), "\"ab\\u00e4cd\"");
	answer = read_run(&ada, id, "/result?offset=1&limit=2");
	is_str(at(answer, FIRST "/text"), "ab", "a part has its bytes alone");
	is_str(at(answer, FIRST "/_meta/paddock~1offset"), "1",
	       "a part says where it begins");
	is_str(at(answer, FIRST "/_meta/paddock~1size"), "8",
	       "a part says how long the whole is");
	ok(strstr(at(answer, FIRST "/_meta/paddock~1next"),
		  "/result?offset=3&limit=2") != NULL,
	   "a part names the next one");
	is_str(
	    at(read_run(&ada, id, "/result?offset=1&limit=3"), FIRST "/text"),
	    "ab", "a part does not cut a character");
	is_str(
	    at(read_run(&ada, id, "/result?offset=4&limit=1"), FIRST "/text"),
	    "\xc3\xa4", "a limit below a character gives the character");
	answer = read_run(&ada, id, "/result?offset=5");
	is_str(at(answer, FIRST "/text"), "cd\"",
	       "a part without a limit is all "
	       "the rest");
	is_str(at(answer, FIRST "/_meta/paddock~1next"), NULL,
	       "the last part names no next one");
	is_str(at(read_run(&ada, id, "/result?offset=99"), FIRST "/text"), "",
	       "a part behind the end is empty");
	is_str(at(client_call(&old, "resources/read",
			      "{\"uri\":\"paddock://runs/%s/result?offset=1\"}",
			      id),
		  FIRST "/_meta"),
	       NULL, "a revision without _meta in contents gets none");
	end();
}

TEST(result_beyond_the_longest_answer)
{
	struct json_object *answer;
	char *text = xcalloc(1, 100003);
	const char *id;

	begin();
	id = started();
	memset(text, 'x', 100002);
	text[0] = text[100001] = '"';
	server_run_end(server_run(), text);
	server.config->max_answer_bytes = 80000;
	answer = read_run(&ada, id, "/result");
	ok(strstr(at(answer, "/error/message"), "?offset=0") != NULL,
	   "a result beyond max_answer_bytes is to be read in parts");
	answer = read_run(&ada, id, "/result?offset=0");
	ok(at(answer, FIRST "/_meta/paddock~1next") != NULL,
	   "a part without a limit is as long as an answer may be");
	free(text);
	end();
}

TEST(logs)
{
	struct run *r;
	const char *id;

	begin();
	id = started();
	r = server_run();
	is_str(at(read_run(&ada, id, "/log"), FIRST "/text"), "",
	       "the log of a run that said nothing is empty");
	server_run_start(r);
	run_log_add(r, "info", (struct str){"hello", 5});
	ok(strstr(at(read_run(&ada, id, "/log"), FIRST "/text"), "hello") !=
	       NULL,
	   "the log of an open run is read");
	is_str(at(read_run(&ada, id, "/log"), FIRST "/mimeType"), "text/plain",
	       "a log is read as text");
	not_found(read_run(&bob, id, "/log"), "another requestor's log");
	server_run_end(r, "1");
	ok(strstr(at(read_run(&ada, id, "/log"), FIRST "/text"), "hello") !=
	       NULL,
	   "the log of an ended run is read from its row");
	end();
}

TEST(artifacts)
{
	struct json_object *answer;
	char id[ID_SIZE], other[ID_SIZE], more[160];

	begin();
	snprintf(other, sizeof(other), "%s", started());
	server_run_end(server_run(), "1");
	snprintf(id, sizeof(id), "%s", started());
	snprintf(more, sizeof(more), "/artifacts/%s",
		 server_artifact(server_run(), "a", "text/plain", "hello", 5));
	answer = read_run(&ada, id, more);
	is_str(at(answer, FIRST "/text"), "hello", "an artifact is read");
	is_str(at(answer, FIRST "/mimeType"), "text/plain",
	       "an artifact is read with its type");
	not_found(read_run(&bob, id, more), "another requestor's artifact");
	not_found(read_run(&ada, other, more), "an artifact of another run");
	snprintf(more, sizeof(more), "/artifacts/%s",
		 server_artifact(server_run(), "b", "text/plain",
				 "0123456789abcde\xc3\xa4xyz", 20));
	answer = read_run(&ada, id, more);
	ok(strstr(at(answer, "/error/message"), "?offset=0") != NULL,
	   "a large artifact is to be read in pieces");
	strcat(more, "?offset=0");
	answer = read_run(&ada, id, more);
	is_str(at(answer, FIRST "/text"), "0123456789abcde",
	       "a piece of a text ends with a whole character");
	is_str(at(answer, FIRST "/_meta/paddock~1size"), "20",
	       "a piece says how long the artifact is");
	more[strlen(more) - 1] = '\0';
	strcat(more, "99");
	ok(strstr(at(read_run(&ada, id, more), "/error/message"), "beyond") !=
	       NULL,
	   "an offset behind the end of an artifact is refused");
	server_run_end(server_run(), "1");
	end();
}

TEST(isolation)
{
	struct json_object *answer;

	begin();
	is_str(at(read_uri(&bob, ISO), FIRST "/text"), "{\"level\":\"test\"}",
	       "anybody reads how well runs are isolated");
	answer = read_uri(&new, ISO);
	ok(at(answer, "/result/ttlMs") != NULL,
	   "a revision without sessions is told how long to keep a resource");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
