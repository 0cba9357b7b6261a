/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_run.c - run_task_template and the tool of a template: the calls that make a run, the
 * moment of each answer, and the content of each answer.
 */
#include "supervisor/run/threads/rpc_async.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define REV MCP_2025_11_25
#define NUMBERS                                                                \
	"\"inputsSchema\":{\"type\":\"object\",\"properties\":{\"n\":{"        \
	"\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}}"

static struct client ada;

static void begin(const char *config, const char *members)
{
	server_begin(config);
	server_package("sum", "1.0.0", members);
	server_package("sum", "1.2.0", members);
	server_package("product", "1.0.0",
		       "\"trustLevelSupport\":[\"remote\"]");
	server_load();
	client_begin(&ada, 7, REV);
}

static void end(void)
{
	client_end(&ada);
	server_end();
}

/* Send a call of run_task_template of sum with OPTIONS, and let it come to its wait. */
static unsigned calls(const char *inputs, const char *options)
{
	unsigned id = client_send(
	    &ada, "tools/call",
	    "{\"name\":\"run_task_template\",\"arguments\":{\"templateId\":"
	    "\"sum\",\"inputs\":%s,\"options\":%s}}",
	    inputs, options);

	server_settle();
	return id;
}

static unsigned calls_own(const char *inputs)
{
	unsigned id = client_send(
	    &ada, "tools/call", "{\"name\":\"sum\",\"arguments\":%s}", inputs);

	server_settle();
	return id;
}

static struct json_object *run_task(const char *args)
{
	return client_tool(&ada, "run_task_template", "%s", args);
}

static void no_run(struct json_object *answer, const char *code,
		   const char *name)
{
	is_str(tool_at(answer, "/errorCode"), code, "%s is refused", name);
	ok(server_run() == NULL, "%s makes no run", name);
}

/* ---- templates ---- */

TEST(template_is_found_by_id_and_version)
{
	begin(NULL, NULL);
	no_run(run_task("{\"templateId\":\"sun\",\"inputs\":{}}"),
	       "TEMPLATE_NOT_FOUND", "a call of an unknown template");
	ok(strstr(tool_at(run_task("{\"templateId\":\"sun\",\"inputs\":{}}"),
			  "/error"),
		  "did you mean \"sum\"") != NULL,
	   "a call of a misspelt template is told the nearest one");
	is_str(tool_at(run_task("{\"templateId\":\"zzzzzzz\",\"inputs\":{}}"),
		       "/error"),
	       "there is no template \"zzzzzzz\"",
	       "a call of a template like no other is told no name");
	no_run(run_task("{\"templateId\":\"sum\",\"templateVersion\":\"2.0.0\","
			"\"inputs\":{}}"),
	       "TEMPLATE_VERSION_UNSUPPORTED",
	       "a call of a version that is not installed");
	is_str(
	    tool_at(run_task("{\"templateId\":\"sum\",\"templateVersion\":"
			     "\"2.0.0\",\"inputs\":{}}"),
		    "/details/available"),
	    "[\"1.2.0\",\"1.0.0\"]",
	    "a call of a version that is not installed is told all versions");
	no_run(run_task("{\"templateId\":\"product\",\"inputs\":{}}"),
	       "TRUST_LEVEL_NOT_ALLOWED",
	       "a local call of a template for remote clients");
	end();
}

TEST(template_version_of_a_run)
{
	begin(NULL, NULL);
	calls("{}", "{\"mode\":\"async\"}");
	is_str(server_run()->template->version_text, "1.2.0",
	       "a call without a version runs the newest");
	run_task("{\"templateId\":\"sum\",\"templateVersion\":\"1.0.0\","
		 "\"inputs\":{},\"options\":{\"mode\":\"async\"}}");
	is_str(server_run()->template->version_text, "1.0.0",
	       "a call with a version runs that version");
	end();
}

TEST(template_that_a_requestor_may_not_see)
{
	begin("[requestor \"few\"]\nuid = 7\ntemplates = other\n", NULL);
	no_run(run_task("{\"templateId\":\"sum\",\"inputs\":{}}"),
	       "TEMPLATE_NOT_FOUND",
	       "a call of a template that the requestor may not see");
	end();
}

/* ---- inputs and options ---- */

TEST(inputs_that_do_not_fit)
{
	struct json_object *answer;

	begin(NULL, NUMBERS);
	answer =
	    run_task("{\"templateId\":\"sum\",\"inputs\":{\"n\":[1,\"2\"]}}");
	is_str(tool_at(answer, "/details/pointer"), "/inputs/n/1",
	       "run_task_template names the place of a wrong input");
	no_run(answer, "INVALID_PARAMETER",
	       "run_task_template of wrong inputs");
	answer = client_tool(&ada, "sum", "{\"n\":[1,\"2\"]}");
	is_str(tool_at(answer, "/details/pointer"), "/n/1",
	       "the tool of a template names the place of a wrong argument");
	no_run(answer, "INVALID_PARAMETER", "the tool of wrong arguments");
	end();
}

TEST(options_of_a_run)
{
	struct run *r;

	begin(NULL, NULL);
	calls("{\"a\":1}",
	      "{\"mode\":\"async\",\"timeoutMs\":1234,\"ttlMs\":5678}");
	r = server_run();
	is_int(r->limits.timeout_ms, 1234,
	       "a run has the time that is asked for");
	is_int(r->limits.ttl_ms, 5678, "a run is kept as long as is asked for");
	is_str(r->inputs, "{\"a\":1}", "a run has the inputs of its call");
	is_int(r->task.form, STORE_TASK_NONE,
	       "a run of a plain call is no task");
	end();
}

TEST(session_that_is_not_there)
{
	begin("[browser]\nenabled = no\n", NULL);
	no_run(run_task("{\"templateId\":\"sum\",\"inputs\":{},"
			"\"sessionId\":\"s_1\"}"),
	       "SESSION_NOT_FOUND", "a call in an unknown browser session");
	end();
}

TEST(requestor_whose_queue_is_full)
{
	begin("[requestor \"few\"]\nuid = 7\nmax_queued_runs = 1\n", NULL);
	calls("{}", "{\"mode\":\"async\"}");
	is_str(tool_at(run_task("{\"templateId\":\"sum\",\"inputs\":{}}"),
		       "/errorCode"),
	       "QUEUE_FULL", "a call beyond max_queued_runs is refused");
	end();
}

/* ---- when a call is answered ---- */

TEST(mode_sync)
{
	unsigned call;

	begin(NULL, NULL);
	call = calls("{}", "{\"mode\":\"sync\"}");
	server.config->inline_wait_ms = 1;
	server_run_start(server_run());
	server_settle();
	ok(client_answered(&ada, call) == NULL,
	   "a call in mode sync waits for the end of its run");
	server_run_end(server_run(), "{\"n\":3}");
	is_str(tool_at(client_wait(&ada, call), "/result/n"), "3",
	       "a call in mode sync is answered with the result");
	is_str(at(client_answered(&ada, call), "/result/isError"), NULL,
	       "a call whose run succeeded is no failed call");
	end();
}

TEST(mode_async)
{
	struct json_object *answer;
	struct answer row = {0};

	begin(NULL, NULL);
	answer = run_task("{\"templateId\":\"sum\",\"inputs\":{},"
			  "\"options\":{\"mode\":\"async\"}}");
	is_str(tool_at(answer, "/mode"), "async",
	       "a call in mode async is answered with a handle");
	is_str(tool_at(answer, "/status"), "queued",
	       "a handle has the status of the run");
	is_str(tool_at(answer, "/templateVersion"), "1.2.0",
	       "a handle has the version of the run");
	is_int(help_get(server.context.store, &row, "uid:7",
			tool_at(answer, "/runId")),
	       0, "a run is in the store before its handle is given");
	help_clear(&row);
	is_str(at(answer, "/result/content/1"), NULL,
	       "a handle of a server for many clients has no note");
	server.context.with_client = true;
	answer = run_task("{\"templateId\":\"sum\",\"inputs\":{},"
			  "\"options\":{\"mode\":\"async\"}}");
	ok(strstr(at(answer, "/result/content/1/text"), "alone") != NULL,
	   "a handle of a server for one client says that its run ends with it");
	end();
}

TEST(mode_auto_gives_a_handle_in_time)
{
	unsigned call;

	begin(NULL, NULL);
	server.config->inline_wait_ms = 1;
	call = calls("{}", "{}");
	is_str(tool_at(client_wait(&ada, call), "/mode"), "async",
	       "a call in mode auto is answered with a handle in time");
	end();
}

TEST(mode_auto_waits_for_a_quick_run)
{
	unsigned call;

	begin(NULL, NULL);
	call = calls("{}", "{}");
	ok(client_answered(&ada, call) == NULL,
	   "a call in mode auto waits within its time");
	server_run_end(server_run(), "1");
	is_str(tool_at(client_wait(&ada, call), "/result"), "1",
	       "a call in mode auto has the result of a quick run");
	end();
}

TEST(mode_by_the_number_of_items)
{
	unsigned call;

	begin(NULL,
	      NUMBERS ",\"autoAsync\":{\"pointer\":\"/n\",\"itemsOver\":2}");
	call = calls("{\"n\":[1,2]}", "{}");
	ok(client_answered(&ada, call) == NULL,
	   "a call with no more items than autoAsync waits");
	server_run_end(server_run(), "1");
	call = calls("{\"n\":[1,2,3]}", "{}");
	is_str(tool_at(client_answered(&ada, call), "/mode"), "async",
	       "a call with more items than autoAsync is asynchronous");
	call = calls("{\"n\":[1,2,3]}", "{\"mode\":\"sync\"}");
	ok(client_answered(&ada, call) == NULL,
	   "the mode of a call comes before autoAsync");
	server_run_end(server_run(), "1");
	end();
}

TEST(mode_of_the_template)
{
	unsigned call;

	begin(NULL, "\"executionMode\":\"async\"");
	call = calls("{}", "{}");
	is_str(tool_at(client_answered(&ada, call), "/mode"), "async",
	       "a call has the mode of its template");
	call = calls("{}", "{\"mode\":\"sync\"}");
	ok(client_answered(&ada, call) == NULL,
	   "the mode of a call comes before that of its template");
	server_run_end(server_run(), "1");
	end();
}

/* ---- the content of answers ---- */

TEST(answer_of_a_tool)
{
	unsigned call;

	begin(NULL, "\"outputsSchema\":{\"type\":\"object\"}");
	call = calls_own("{}");
	server_run_end(server_run(), "{\"n\":3}");
	is_str(at(client_wait(&ada, call), "/result/structuredContent"),
	       "{\"n\":3}", "the tool of a template gives the plain output");
	is_str(tool_at(client_answered(&ada, call), "/n"), "3",
	       "the tool of a template gives its output as text as well");
	call = calls_own("{}");
	server_run_fail(server_run(), "EXECUTION_ERROR", "the worker broke");
	is_str(at(client_wait(&ada, call), "/result/isError"), "true",
	       "the tool of a template whose run failed is a failed call");
	is_str(tool_at(client_answered(&ada, call), "/errorCode"),
	       "EXECUTION_ERROR",
	       "the tool of a template tells why a run failed");
	end();
}

TEST(answer_of_a_run_that_failed)
{
	unsigned call;

	begin(NULL, NULL);
	call = calls("{}", "{}");
	server_run_fail(server_run(), "EXECUTION_ERROR", "the worker broke");
	is_str(tool_at(client_wait(&ada, call), "/status"), "failed",
	       "run_task_template shows the run that failed");
	is_str(at(client_answered(&ada, call), "/result/isError"), "true",
	       "run_task_template of a run that failed is a failed call");
	end();
}

TEST(answer_of_a_run_that_is_dropped)
{
	unsigned call;
	struct run *r;

	begin(NULL, NULL);
	call = calls("{}", "{}");
	r = server_run();
	run_tell(r, &(struct run_notice){.kind = NOTICE_FULL});
	is_str(tool_at(client_wait(&ada, call), "/errorCode"), "QUEUE_FULL",
	       "a call whose run finds no room in the queue of all is refused");
	ok(TAILQ_EMPTY(&r->watches) && TAILQ_EMPTY(&r->waiters),
	   "a call that was refused no longer waits for its run");
	end();
}

TEST(answer_of_a_handle_that_cannot_be_recorded)
{
	struct run *r;
	unsigned call;

	begin(NULL, NULL);
	server.config->inline_wait_ms = 1;
	call = client_send(&ada, "tools/call",
			   "{\"name\":\"run_task_template\",\"arguments\":{"
			   "\"templateId\":\"sum\",\"inputs\":{},"
			   "\"options\":{\"mode\":\"async\"}}}");
	r = server_run();
	r->record.row = ROW_NONE;
	run_tell(r, &(struct run_notice){.kind = NOTICE_DURABLE,
					 .unrecorded = "the disk is full"});
	is_str(tool_at(client_answered(&ada, call), "/errorCode"),
	       "STORE_UNAVAILABLE",
	       "a handle of a run that cannot be recorded is refused");
	ok(strstr(tool_at(client_answered(&ada, call), "/error"),
		  "the disk is full") != NULL,
	   "a refused handle says why its run cannot be recorded");
	server_settle();
	end();
}

/* ---- the end of the client, and of the server ---- */

TEST(cancelled_by_the_client)
{
	unsigned call;
	char id[ID_SIZE];

	begin(NULL, NULL);
	call = calls("{}", "{}");
	snprintf(id, sizeof(id), "%s", server_run()->id);
	client_cancel(&ada, call);
	server_until(server_run() == NULL);
	is_str(
	    tool_at(client_tool(&ada, "get_task_run", "{\"runId\":\"%s\"}", id),
		    "/status"),
	    "canceled", "a run whose only call was cancelled is, too");
	ok(client_answered(&ada, call) == NULL,
	   "a call that was cancelled has no answer");
	calls("{}", "{\"mode\":\"async\"}");
	client_cancel(&ada, ada.last_id);
	server_settle();
	ok(server_run() != NULL,
	   "a run whose handle was given goes on when its call is cancelled");
	end();
}

TEST(server_that_ends_leaves_the_run_to_the_next)
{
	unsigned call, sync;
	struct json_object *answer;

	begin(NULL, NULL);
	call = calls("{}", "{}");
	runs_leave(server.context.runs);
	answer = client_wait(&ada, call);
	is_str(tool_at(answer, "/status"), "queued",
	       "a server that ends answers with a handle of a run that waits");
	ok(strstr(at(answer, "/result/content/1/text"),
		  "the next server has it") != NULL,
	   "the handle says that the next server starts the run");
	sync = calls("{}", "{\"mode\":\"sync\"}");
	runs_leave(server.context.runs);
	answer = client_wait(&ada, sync);
	is_str(tool_at(answer, "/status"), "failed",
	       "a server that ends gives up a run whose call takes no handle");
	end();
}

static int detached;

static void on_detach(void *arg, void *stream)
{
	(void)arg, (void)stream;
	detached++;
}

TEST(stream_that_is_polled)
{
	struct session_ops ops;

	begin(NULL, "\"stream\":\"poll\"");
	ops = *ada.session.ops;
	ops.detach = on_detach;
	ada.session.ops = &ops;
	calls("{}", "{\"mode\":\"async\"}");
	is_int(detached, 0, "a call that is answered at once keeps its stream");
	calls("{}", "{}");
	is_int(detached, 1,
	       "a call that waits for a template with stream poll is detached");
	server_run_end(server_run(), "1");
	end();
}

TEST(large_inputs_are_not_kept_twice)
{
	size_t n = (size_t)RPC_ASYNC_LARGE + 1;
	char *text = xcalloc(1, n + 32);
	struct request *req;
	unsigned call;

	begin(NULL, NULL);
	memcpy(text, "{\"a\":\"", 6);
	memset(text + 6, 'x', n);
	memcpy(text + 6 + n, "\"}", 3);
	call = client_send(&ada, "tools/call",
			   "{\"name\":\"sum\",\"arguments\":%s}", text);
	server_until(server_run() != NULL);
	is_int((int64_t)server_run()->inputs_len, (int64_t)strlen(text),
	       "a run has all of its large inputs");
	req = ada.session.requests;
	ok(req != NULL && json_member(req->msg.params, "arguments") == NULL,
	   "a call with large inputs keeps no tree of them while it waits");
	server_run_end(server_run(), "1");
	client_wait(&ada, call);
	free(text);
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
