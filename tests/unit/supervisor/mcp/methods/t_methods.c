/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_methods.c - initialize, server/discover, ping, logging/setLevel, and the methods of
 * paddock for operators: usage, nodes, waiting and reload.
 */
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/warm/warm.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct client ada, new, op;

static void begin(void)
{
	server_begin(NULL);
	server_package("sum", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&new, 7, MCP_2026_07_28);
	client_begin(&op, getuid(), MCP_2025_11_25);
}

static void end(void)
{
	client_end(&ada);
	client_end(&new);
	client_end(&op);
	server_end();
}

static void refused(struct json_object *answer, const char *words,
		    const char *name)
{
	const char *text = at(answer, "/error/message");

	ok(text != NULL && strstr(text, words) != NULL,
	   "%s is refused, with the reason", name);
}

/* ---- the beginning of a conversation ---- */

/* Make ada a client who has said nothing yet. */
static void forget(void)
{
	ada.session.greeted = ada.session.initialized = false;
	ada.session.terms.revision = MCP_LATEST_SESSION;
}

static struct json_object *initialize(const char *params)
{
	return client_call(&ada, "initialize", "%s", params);
}

TEST(initialize)
{
	struct json_object *answer;

	begin();
	forget();
	answer = initialize("{\"protocolVersion\":\"2025-06-18\","
			    "\"capabilities\":{\"elicitation\":{}}}");
	is_str(at(answer, "/result/protocolVersion"), "2025-06-18",
	       "a revision that both know is agreed on");
	is_int(ada.session.terms.revision, MCP_2025_06_18,
	       "the session speaks the revision that was agreed on");
	ok(ada.session.greeted, "a session that was initialized is greeted");
	ok(json_member(ada.session.terms.capabilities, "elicitation") != NULL,
	   "the session keeps what its client declares");
	is_str(at(answer, "/result/serverInfo/name"), "paddock",
	       "the server names itself");
	ok(at(answer, "/result/capabilities/tasks") == NULL,
	   "a revision without tasks is told no capability for them");
	ok(at(answer, "/result/capabilities/completions") != NULL,
	   "a revision with completions is told of them");
	refused(initialize("{\"protocolVersion\":\"2025-06-18\"}"),
		"initialized already", "a second initialize");
	end();
}

TEST(initialize_by_revision)
{
	struct json_object *answer;

	begin();
	forget();
	answer = initialize("{\"protocolVersion\":\"1999-01-01\"}");
	is_str(at(answer, "/result/protocolVersion"), "2025-11-25",
	       "of an unknown revision the latest with sessions is agreed on");
	ok(at(answer, "/result/capabilities/tasks") != NULL,
	   "a revision with tasks is told of them");
	ok(at(answer, "/result/capabilities/resources/subscribe") != NULL,
	   "subscriptions are a capability");
	ok(strstr(at(answer, "/result/instructions"), "daemon") == NULL,
	   "a server for many clients does not speak of its end");
	forget();
	server.context.with_client = true;
	answer = initialize("{\"protocolVersion\":\"2024-11-05\"}");
	ok(strstr(at(answer, "/result/instructions"), "daemon") != NULL,
	   "a server for one client says that it ends with the client");
	ok(at(answer, "/result/capabilities/completions") == NULL,
	   "the oldest revision is told no capability for completions");
	end();
}

TEST(initialize_refused)
{
	char *text = xcalloc(1, (size_t)RPC_ASYNC_LARGE + 2);

	begin();
	forget();
	refused(initialize("{}"), "params.protocolVersion",
		"initialize without a revision");
	refused(initialize("{\"protocolVersion\":7}"), "params.protocolVersion",
		"initialize with a number as revision");
	memset(text, 'x', (size_t)RPC_ASYNC_LARGE + 1);
	refused(client_call(&ada, "initialize",
			    "{\"protocolVersion\":\"2025-06-18\",\"a\":\"%s\"}",
			    text),
		"at most", "initialize with more than may be kept");
	ok(!ada.session.greeted,
	   "a session whose initialize was refused is not "
	   "greeted");
	free(text);
	end();
}

TEST(discover)
{
	struct json_object *answer;

	begin();
	answer = client_call(&new, "server/discover", "{}");
	is_str(at(answer, "/result/supportedVersions/0"), "2026-07-28",
	       "the newest revision is named first");
	is_str(at(answer, "/result/capabilities/extensions"),
	       "{\"io.modelcontextprotocol/tasks\":{}}",
	       "the extension of tasks has no members");
	ok(at(answer, "/result/ttlMs") != NULL,
	   "an answer says how long it may be kept");
	refused(client_call(&ada, "server/discover", "{}"), "server/discover",
		"server/discover of a revision with sessions");
	end();
}

TEST(ping)
{
	begin();
	is_str(at(client_call(&ada, "ping", "{}"), "/result"), "{}",
	       "a ping is answered with nothing");
	end();
}

TEST(log_level)
{
	begin();
	client_call(&ada, "logging/setLevel", "{\"level\":\"warning\"}");
	is_int(ada.session.terms.log_level, mcp_level_of("warning"),
	       "a session keeps the level that its client sets");
	refused(client_call(&ada, "logging/setLevel", "{\"level\":\"loud\"}"),
		"params.level", "an unknown level");
	refused(client_call(&ada, "logging/setLevel", "{}"), "params.level",
		"logging/setLevel without a level");
	is_int(ada.session.terms.log_level, mcp_level_of("warning"),
	       "a level that was refused changes nothing");
	end();
}

/* ---- paddock/usage ---- */

static void ran(struct client *c)
{
	client_tool(c, "run_task_template",
		    "{\"templateId\":\"sum\",\"inputs\":{},"
		    "\"options\":{\"mode\":\"async\"}}");
	server_run_end(server_run(), "1");
}

TEST(usage)
{
	struct json_object *answer;

	begin();
	ran(&ada);
	ran(&ada);
	ran(&op);
	answer = client_call(&ada, "paddock/usage", "{}");
	is_str(at(answer, "/result/rows/0/runs"), "2",
	       "a requestor is told how many of its runs there were");
	is_str(at(answer, "/result/rows/0/templateId"), "sum",
	       "runs are told by their template");
	is_str(at(answer, "/result/rows/1"), NULL,
	       "a requestor is told of its own runs alone");
	is_str(at(answer, "/result/more"), "false",
	       "an answer says if it has all");
	answer = client_call(&op, "paddock/usage", "{}");
	ok(at(answer, "/result/rows/1") != NULL,
	   "an operator is told of all requestors");
	answer = client_call(&op, "paddock/usage", "{\"since\":7300000}");
	is_str(at(answer, "/result/since"), "7200000",
	       "the beginning of the time is that of an hour");
	answer =
	    client_call(&ada, "paddock/usage", "{\"since\":4102444800000}");
	is_str(at(answer, "/result/rows"), "[]",
	       "from a time to come on no use is told");
	refused(client_call(&ada, "paddock/usage", "{\"since\":-1}"),
		"params.since", "a negative time");
	refused(client_call(&ada, "paddock/usage", "{\"since\":\"1\"}"),
		"params.since", "a time as text");
	end();
}

/* ---- for operators alone ---- */

TEST(nodes)
{
	struct json_object *answer;

	begin();
	refused(client_call(&ada, "paddock/nodes", "{}"), "root",
		"paddock/nodes of a user");
	op.session.via = TRUST_REMOTE;
	refused(client_call(&op, "paddock/nodes", "{}"), "root",
		"paddock/nodes of an operator from afar");
	op.session.via = TRUST_LOCAL;
	answer = client_call(&op, "paddock/nodes", "{}");
	is_str(at(answer, "/result/nodes/0/instance"), "inst_one",
	       "a server without others names itself");
	is_str(at(answer, "/result/nodes/0/self"), "true",
	       "a server says which of the nodes it is");
	client_tool(&ada, "run_task_template",
		    "{\"templateId\":\"sum\",\"inputs\":{},"
		    "\"options\":{\"mode\":\"async\"}}");
	answer = client_call(&op, "paddock/nodes", "{}");
	is_str(at(answer, "/result/nodes/0/queued"), "1",
	       "a node is told with its runs that wait");
	is_str(at(answer, "/result/nodes/0/running"), "0",
	       "a node is told with its runs that go on");
	end();
}

TEST(waiting)
{
	begin();
	refused(client_call(&ada, "paddock/waiting", "{}"), "root",
		"paddock/waiting of a user");
	server.context.warm = warm_new(&server.context);
	is_str(at(client_call(&op, "paddock/waiting", "{}"), "/result/workers"),
	       "[]", "a server in which no worker waits says so");
	warm_free(server.context.warm);
	server.context.warm = NULL;
	end();
}

static void (*reloaded)(void *arg, struct json_object *report);
static void *reloaded_arg;

static void on_reload(struct reload *r,
		      void (*told)(void *arg, struct json_object *report),
		      void *arg)
{
	(void)r;
	reloaded = told;
	reloaded_arg = arg;
}

TEST(reload)
{
	struct json_object *report = json_pack("templates:i", 1);
	unsigned call;

	begin();
	server.context.reload_ask = on_reload;
	refused(client_call(&ada, "paddock/reload", "{}"), "root",
		"paddock/reload of a user");
	ok(reloaded == NULL, "a reload that is refused is not begun");
	call = client_send(&op, "paddock/reload", "{}");
	ok(reloaded != NULL && client_answered(&op, call) == NULL,
	   "a reload is answered when it is done");
	reloaded(reloaded_arg, report);
	is_str(at(client_answered(&op, call), "/result/templates"), "1",
	       "a reload is answered with its report");
	is_str(json_text(report, NULL), "{\"templates\":1}",
	       "the report of a reload is as it was, for others who asked");
	call = client_send(&op, "paddock/reload", "{}");
	reloaded(reloaded_arg, NULL);
	refused(client_answered(&op, call), "ending",
		"a reload of a server that ends");
	call = client_send(&op, "paddock/reload", "{}");
	client_cancel(&op, call);
	reloaded(reloaded_arg, report);
	ok(client_answered(&op, call) == NULL,
	   "a reload that was cancelled has no answer");
	json_object_put(report);
	end();
}

/* ---- the table ---- */

TEST(table)
{
	const struct method *m = methods.all;

	for (; m->name != NULL; m++)
		ok(m->serve != NULL, "the method %s has a function", m->name);
	ok(methods.subscriptions != NULL && methods.resubscribe != NULL,
	   "subscriptions can be kept and restored");
}

int main(void)
{
	tap_run();
	return tap_done();
}
