/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tools.c - tools/list and tools/call: the tools of a client, in order and form, and the
 * refusals of calls that do not fit.
 */
#include "supervisor/mcp/tools/tools.h"
#include "supervisor/mcp/tools/contract_tools.h"
#include "supervisor/packages/templates/catalogue.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define SECTIONS                                                               \
	"[server]\npublish_templates = count sum\n[browser]\nenabled = no\n"   \
	"[requestor \"few\"]\nuid = 8\ntemplates = sum hidden\n"

static struct client ada, few, old, new;

static void begin(void)
{
	server_begin(SECTIONS);
	server_package("count", "1.0.0", NULL);
	server_package("count", "1.1.0", "\"description\":\"The newer\"");
	server_package("sum", "1.0.0",
		       "\"annotations\":{\"readOnlyHint\":true},"
		       "\"outputsSchema\":{\"type\":\"object\"}");
	server_package("hidden", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&few, 8, MCP_2025_11_25);
	client_begin(&old, 7, MCP_2024_11_05);
	client_begin(&new, 7, MCP_2026_07_28);
}

static void end(void)
{
	client_end(&ada);
	client_end(&few);
	client_end(&old);
	client_end(&new);
	server_end();
}

/* Return the tool NAME that C is listed, or NULL. */
static struct json_object *listed(struct client *c, const char *name)
{
	struct json_object *list = client_call(c, "tools/list", "{}"), *tools;

	tools = json_member(json_member(list, "result"), "tools");
	json_each(tool, tools)
		if (strcmp(json_member_str(tool, "name"), name) == 0)
			return tool;
	return NULL;
}

static void refused(struct json_object *answer, int code, const char *words,
		    const char *name)
{
	const char *text = at(answer, "/error/message");

	is_int(json_member_int(json_member(answer, "error"), "code"), code,
	       "%s is refused by its code", name);
	ok(text != NULL && strstr(text, words) != NULL,
	   "%s is refused in words that help", name);
	if (text == NULL || strstr(text, words) == NULL)
		printf("# %s\n", json_text(answer, NULL));
}

TEST(list_has_what_may_be_seen)
{
	begin();
	ok(listed(&ada, "count") != NULL, "a published template is a tool");
	ok(listed(&ada, "hidden") == NULL,
	   "a template that is not published is no tool");
	ok(listed(&few, "count") == NULL,
	   "a template that a requestor may not see is no tool of the requestor");
	ok(listed(&few, "sum") != NULL,
	   "a template that a requestor's section names is a tool");
	ok(listed(&ada, "run_task_template") != NULL,
	   "the contract's tools are listed");
	ok(listed(&ada, "browser_navigate") == NULL,
	   "no tool of a browser is listed where there is none");
	ada.session.via = TRUST_REMOTE;
	ok(listed(&ada, "count") == NULL,
	   "a template for local clients is no tool of a remote client");
	end();
}

TEST(list_has_the_newest_version)
{
	begin();
	is_str(at(listed(&ada, "count"), "/description"), "The newer",
	       "the tool of a template is that of its newest version");
	end();
}

TEST(list_follows_the_revision)
{
	begin();
	ok(at(listed(&ada, "sum"), "/execution/taskSupport") != NULL,
	   "a revision with tasks is told whether a tool may be one");
	is_str(at(listed(&ada, "sum"), "/annotations/readOnlyHint"), "true",
	       "a revision with annotations is told those of a template");
	ok(at(listed(&ada, "sum"), "/outputSchema") != NULL,
	   "a revision with structured content is told the outputSchema");
	ok(at(listed(&ada, "count"), "/outputSchema") == NULL,
	   "a template that promises no object has no outputSchema");
	ok(at(listed(&old, "sum"), "/execution") == NULL,
	   "the oldest revision is told nothing of tasks");
	ok(at(listed(&old, "sum"), "/annotations") == NULL,
	   "the oldest revision is told no annotations");
	ok(at(listed(&old, "sum"), "/title") == NULL,
	   "the oldest revision is told no title");
	ok(at(listed(&old, "sum"), "/outputSchema") == NULL,
	   "the oldest revision is told no outputSchema");
	is_str(at(listed(&old, "sum"), "/description"), "A description",
	       "the oldest revision is told the description");
	end();
}

TEST(list_comes_in_pages)
{
	struct json_object *list;
	char id[8];
	int n;

	server_begin(NULL);
	for (int i = 0; i < TOOLS_PAGE; i++) {
		snprintf(id, sizeof(id), "t%02d", i);
		server_package(id, "1.0.0", NULL);
	}
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	list = client_call(&ada, "tools/list", "{}");
	is_int(
	    (int)json_length(json_member(json_member(list, "result"), "tools")),
	    TOOLS_PAGE, "the first page of tools is full");
	is_str(at(list, "/result/tools/0/name"), "list_task_templates",
	       "the contract's tools are listed before templates");
	list = client_call(&ada, "tools/list", "{\"cursor\":\"%s\"}",
			   at(list, "/result/nextCursor"));
	n = (int)json_length(json_member(json_member(list, "result"), "tools"));
	/* propose_grant is off, and not listed */
	is_int(n, CONTRACT_TOOLS - 1, "the second page has the rest");
	is_str(at(list, "/result/tools/0/name"), "t41",
	       "the second page begins behind the last tool of the first");
	is_str(at(list, "/result/nextCursor"), NULL,
	       "the last page has no cursor");
	list = client_call(&ada, "tools/list", "{\"cursor\":\"&\"}");
	is_str(at(list, "/error/code"), "-32602",
	       "a cursor that is malformed is refused");
	client_end(&ada);
	server_end();
}

TEST(call_without_a_tool)
{
	begin();
	refused(client_call(&ada, "tools/call", "{}"), RPC_INVALID_PARAMS,
		"params.name", "tools/call without a name");
	refused(client_call(&ada, "tools/call", "{\"name\":7}"),
		RPC_INVALID_PARAMS, "params.name",
		"tools/call with a number as name");
	refused(client_call(&ada, "tools/call", "{\"name\":\"count\\u0000x\"}"),
		RPC_INVALID_PARAMS, "\\u0000",
		"tools/call with a NUL in its name");
	refused(client_call(&ada, "tools/call",
			    "{\"name\":\"count\",\"arguments\":[]}"),
		RPC_INVALID_PARAMS, "params.arguments",
		"tools/call with an array as arguments");
	refused(client_call(&ada, "tools/call", "{\"name\":\"cuont\"}"),
		RPC_INVALID_PARAMS, "did you mean \"count\"",
		"tools/call of a misspelt template");
	refused(client_call(&ada, "tools/call", "{\"name\":\"get_taks_run\"}"),
		RPC_INVALID_PARAMS, "did you mean \"get_task_run\"",
		"tools/call of a misspelt tool of the contract");
	refused(client_call(&ada, "tools/call",
			    "{\"name\":\"quite_something_else\"}"),
		RPC_INVALID_PARAMS, "tools/list names them",
		"tools/call of a name that is like no other");
	end();
}

TEST(call_of_a_template_that_is_no_tool)
{
	begin();
	refused(client_call(&ada, "tools/call", "{\"name\":\"hidden\"}"),
		RPC_INVALID_PARAMS, "publish_templates",
		"tools/call of a template that is not published");
	refused(client_call(&few, "tools/call", "{\"name\":\"count\"}"),
		RPC_INVALID_PARAMS, "tools/list names them",
		"tools/call of a template that a requestor may not see");
	ada.session.via = TRUST_REMOTE;
	refused(client_call(&ada, "tools/call", "{\"name\":\"count\"}"),
		RPC_INVALID_PARAMS, "trust level",
		"tools/call of a template for another trust level");
	end();
}

TEST(call_with_wrong_arguments)
{
	struct json_object *answer;

	begin();
	answer = client_tool(&ada, "get_task_run", "{\"runId\":7}");
	is_str(tool_at(answer, "/errorCode"), "INVALID_PARAMETER",
	       "an argument of a wrong type is an error of the tool");
	is_str(tool_at(answer, "/details/pointer"), "/runId",
	       "the error names the place of a wrong argument");
	ok(strstr(tool_at(answer, "/error"), "As run_task_template gave it") !=
	       NULL,
	   "the error says what a wrong argument is for");
	answer = client_tool(&ada, "get_task_run", "{}");
	is_str(tool_at(answer, "/details/keyword"), "required",
	       "an argument that is missing is an error of the tool");
	answer = client_tool(&ada, "get_task_run", "{\"runId\":\"a\\u0000b\"}");
	is_str(tool_at(answer, "/details/pointer"), "/runId",
	       "a NUL in an id is refused at its place");
	answer = client_tool(&ada, "run_task_template",
			     "{\"templateId\":\"count\",\"inputs\":{},"
			     "\"options\":{\"idempotencyKey\":\"a\\u0000b\"}}");
	is_str(tool_at(answer, "/details/pointer"), "/options/idempotencyKey",
	       "a NUL in an option is refused at its place");
	answer = client_tool(&ada, "run_task_template",
			     "{\"templateId\":\"count\",\"inputs\":"
			     "{\"a\":\"\\u0000\"},"
			     "\"options\":{\"mode\":\"async\"}}");
	is_str(tool_at(answer, "/status"), "queued",
	       "a NUL in the inputs of a template is taken");
	end();
}

TEST(call_of_a_browser)
{
	begin();
	is_str(tool_at(client_tool(&ada, "create_tab", "{}"), "/errorCode"),
	       "BROWSER_UNAVAILABLE",
	       "a tool of a browser is refused where there is none");
	end();
}

/* ---- tasks ---- */

static void task_packages(void)
{
	server_begin(NULL);
	server_package("always", "1.0.0", "\"taskSupport\":\"required\"");
	server_package("never", "1.0.0", "\"taskSupport\":\"forbidden\"");
	server_package("maybe", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&old, 7, MCP_2025_06_18);
	client_begin(&new, 7, MCP_2026_07_28);
}

static void end_tasks(void)
{
	client_end(&ada);
	client_end(&old);
	client_end(&new);
	server_end();
}

TEST(call_as_a_task)
{
	struct json_object *answer;

	task_packages();
	refused(client_call(&ada, "tools/call", "{\"name\":\"always\"}"),
		RPC_METHOD_NOT_FOUND, "params.task",
		"a plain call of a tool that has to be a task");
	refused(
	    client_call(&ada, "tools/call", "{\"name\":\"never\",\"task\":{}}"),
	    RPC_METHOD_NOT_FOUND, "leave params.task out",
	    "a task of a tool that may be none");
	refused(client_call(&ada, "tools/call",
			    "{\"name\":\"get_task_run\",\"task\":{}}"),
		RPC_METHOD_NOT_FOUND, "leave params.task out",
		"a task of get_task_run");
	refused(
	    client_call(&ada, "tools/call", "{\"name\":\"maybe\",\"task\":7}"),
	    RPC_INVALID_PARAMS, "params.task is an object",
	    "a task that is no object");
	refused(client_call(&ada, "tools/call",
			    "{\"name\":\"maybe\",\"task\":{\"ttl\":0.5}}"),
		RPC_INVALID_PARAMS, "1 or more", "a task with a ttl below 1");
	refused(client_call(&ada, "tools/call",
			    "{\"name\":\"maybe\",\"task\":{\"ttl\":\"1\"}}"),
		RPC_INVALID_PARAMS, "1 or more", "a task with a ttl as text");
	answer = client_call(&ada, "tools/call",
			     "{\"name\":\"maybe\",\"task\":{\"ttl\":1}}");
	is_str(at(answer, "/result/task/ttl"), "1",
	       "a task is kept as short as its client asks");
	answer = client_call(&ada, "tools/call",
			     "{\"name\":\"always\",\"task\":{\"ttl\":1e300}}");
	ok(at(answer, "/result/task/taskId") != NULL,
	   "a task with a ttl beyond all bounds gets the longest there is");
	end_tasks();
}

TEST(call_of_a_client_that_knows_no_tasks)
{
	unsigned call;

	task_packages();
	call =
	    client_send(&old, "tools/call", "{\"name\":\"never\",\"task\":7}");
	server_settle();
	ok(client_answered(&old, call) == NULL && server_run() != NULL,
	   "params.task of a revision without tasks is ignored");
	server_run_end(server_run(), "1");
	ok(at(client_wait(&old, call), "/result/content") != NULL,
	   "a call of a revision without tasks is answered plainly");
	end_tasks();
}

TEST(call_of_a_client_of_the_extension)
{
	struct json_object *answer;

	task_packages();
	answer = client_call(&new, "tools/call", "{\"name\":\"always\"}");
	refused(
	    answer, RPC_MISSING_CAPABILITY, "io.modelcontextprotocol/tasks",
	    "a tool that has to be a task, for a client that declares none");
	client_declare(&new, "{\"extensions\":{\"io.modelcontextprotocol/"
			     "tasks\":{}}}");
	answer = client_call(&new, "tools/call", "{\"name\":\"always\"}");
	is_str(at(answer, "/result/resultType"), "task",
	       "a tool that has to be a task is one for who declares tasks");
	end_tasks();
}

/* ---- inputs repeated in the header of a request ---- */

static const char *header; /* Mcp-Param-Size of the request */

static const char *field(void *arg, const char *name)
{
	(void)arg;
	return strcasecmp(name, "Mcp-Param-Size") == 0 ? header : NULL;
}

TEST(call_with_a_header)
{
	struct session_ops ops;
	unsigned call;

	server_begin(NULL);
	server_package("sized", "1.0.0",
		       "\"inputsSchema\":{\"type\":\"object\",\"properties\":{"
		       "\"size\":{\"type\":\"integer\",\"x-mcp-header\":"
		       "\"Size\"}}}");
	server_load();
	client_begin(&new, 7, MCP_2026_07_28);
	ops = *new.session.ops;
	ops.field = field;
	new.session.ops = &ops;
	header = "8";
	refused(client_call(&new, "tools/call",
			    "{\"name\":\"sized\",\"arguments\":{\"size\":7}}"),
		RPC_HEADER_MISMATCH, "size",
		"a call whose header has another value than its inputs");
	header = "7";
	call = client_send(&new, "tools/call",
			   "{\"name\":\"sized\",\"arguments\":{\"size\":7}}");
	ok(client_answered(&new, call) == NULL && server_run() != NULL,
	   "a call whose header repeats its input makes a run");
	server_run_end(server_run(), "1");
	client_end(&new);
	server_end();
}

/* ---- functions for others ---- */

TEST(offers)
{
	const struct catalogue *cat;
	const struct template *sum, *count;

	begin();
	cat = server.context.catalogue;
	sum = catalogue_newest(cat, "sum");
	count = catalogue_newest(cat, "count");
	ok(requestor_sees(few.session.requestor, sum->id),
	   "a requestor sees a template that its section names");
	ok(!requestor_sees(few.session.requestor, count->id),
	   "a requestor does not see a template that its section leaves out");
	ok(tools_offers(&few.session, sum),
	   "a local session is offered a template for local clients");
	few.session.via = TRUST_REMOTE;
	ok(!tools_offers(&few.session, sum),
	   "a remote session is not offered a template for local clients");
	is_str(tools_nearest(ada.session.requestor, cat, "suma"), "sum",
	       "the nearest template is found by its id");
	is_str(tools_nearest(few.session.requestor, cat, "coumt"), NULL,
	       "no template is suggested that a requestor may not see");
	is_str(tools_nearest(ada.session.requestor, cat, "zzzzzzzzzz"), NULL,
	       "no template is suggested that is like the name in nothing");
	end();
}

#define PROMPT                                                                 \
	"\"prompts\":[{\"name\":\"hello\",\"messages\":[{\"role\":\"user\","   \
	"\"content\":{\"type\":\"text\",\"text\":\"hi\"}}]}]"

TEST(an_offer_of_two_templates)
{
	const struct catalogue_index_list *all;

	server_begin("[requestor \"few\"]\nuid = 8\ntemplates = second\n"
		     "[requestor \"none\"]\nuid = 9\ntemplates = third\n");
	server_package("first", "1.0.0", PROMPT);
	server_package("second", "1.0.0", PROMPT);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&few, 8, MCP_2025_11_25);
	client_begin(&old, 9, MCP_2025_11_25);
	all = &server.context.catalogue->offers->prompts;
	is_str(tools_offer(&ada.session, all, "hello")->template->id, "first",
	       "of two entries with one key the first is offered");
	is_str(tools_offer(&few.session, all, "hello")->template->id, "second",
	       "the second of two entries is offered to who may not see the "
	       "first");
	ok(tools_offer(&old.session, all, "hello") == NULL,
	   "no entry is offered to who may see none");
	ok(tools_offer(&ada.session, all, "bye") == NULL,
	   "no entry is offered by a key that is not there");
	client_end(&ada);
	client_end(&few);
	client_end(&old);
	server_end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
