/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_try_again.c - retry_task_run: the inputs and the version of a repeated run, and the
 * refusals.
 */
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define SECRET                                                                 \
	"\"inputsSchema\":{\"type\":\"object\",\"properties\":{"               \
	"\"key\":{\"type\":\"string\",\"writeOnly\":true},"                    \
	"\"n\":{\"type\":\"integer\"}}}"

static struct client ada, bob;
static char id[ID_SIZE]; /* the id of the earlier run */

static void begin(const char *config, const char *members)
{
	server_begin(config);
	server_package("sum", "1.0.0", members);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&bob, 8, MCP_2025_11_25);
}

static void end(void)
{
	client_end(&ada);
	client_end(&bob);
	server_end();
}

/* Make a waiting run of ada with INPUTS. */
static void run(const char *inputs)
{
	struct json_object *answer =
	    client_tool(&ada, "run_task_template",
			"{\"templateId\":\"sum\",\"inputs\":%s,"
			"\"options\":{\"mode\":\"async\"}}",
			inputs);

	snprintf(id, sizeof(id), "%s", tool_at(answer, "/runId"));
}

/* Make an ended run of ada; the row keeps the inputs within the bounds. */
static void ran(const char *inputs)
{
	run(inputs);
	server_run_end(server_run(), "1");
}

static struct json_object *again(struct client *c, const char *more)
{
	return client_tool(c, "retry_task_run",
			   "{\"runId\":\"%s\",\"options\":{\"mode\":\"async\"}"
			   "%s}",
			   id, more);
}

static const char *inputs(void)
{
	return server_run() != NULL ? server_run()->inputs : NULL;
}

TEST(the_same_inputs)
{
	struct json_object *answer;

	begin(NULL, NULL);
	ran("{\"a\":{\"b\":1},\"c\":2}");
	answer = again(&ada, "");
	is_str(inputs(), "{\"a\":{\"b\":1},\"c\":2}",
	       "a run is tried again with the inputs of its row");
	is_str(tool_at(answer, "/retriedFrom"), id,
	       "a run that is tried again names the earlier run");
	ok(strcmp(tool_at(answer, "/runId"), id) != 0,
	   "a run that is tried again is a run of its own");
	end();
}

TEST(inputs_of_the_call)
{
	begin(NULL, NULL);
	ran("{\"a\":{\"b\":1},\"c\":2}");
	again(&ada, ",\"inputs\":{\"a\":{\"x\":3}}");
	is_str(inputs(), "{\"a\":{\"x\":3},\"c\":2}",
	       "inputs of the call take the place of a whole member");
	end();
}

TEST(members_of_the_call)
{
	begin(NULL, NULL);
	ran("{\"a\":{\"b\":1},\"c\":2}");
	again(&ada, ",\"members\":{\"/a/x\":3,\"/d/e\":4}");
	is_str(inputs(), "{\"a\":{\"b\":1,\"x\":3},\"c\":2,\"d\":{\"e\":4}}",
	       "members of the call leave what lies beside them");
	server_run_end(server_run(), "1");
	again(&ada, ",\"inputs\":{\"a\":{}},\"members\":{\"/a/~1\":5}");
	is_str(inputs(), "{\"a\":{\"/\":5},\"c\":2}",
	       "members are put into the inputs of the call, by JSON Pointers");
	server_run_end(server_run(), "1");
	is_str(tool_at(again(&ada, ",\"members\":{\"/c/x\":3}"),
		       "/details/pointer"),
	       "/members", "a pointer through a number is refused");
	is_str(tool_at(again(&ada, ",\"members\":{\"a\":3}"), "/errorCode"),
	       "INVALID_PARAMETER", "a pointer without a slash is refused");
	ok(server_run() == NULL, "members without a place make no run");
	end();
}

TEST(depth_of_members)
{
	begin(NULL, NULL);
	ran("{}");
	again(&ada, ",\"members\":{\"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16\":"
		    "1}");
	ok(server_run() != NULL, "a pointer of 16 names is followed");
	server_run_end(server_run(), "1");
	is_str(tool_at(again(&ada, ",\"members\":{\"/1/2/3/4/5/6/7/8/9/10/11/"
				   "12/13/14/15/16/17\":1}"),
		       "/errorCode"),
	       "INVALID_PARAMETER", "a pointer of 17 names is refused");
	end();
}

TEST(inputs_are_checked_anew)
{
	struct json_object *answer;

	begin(NULL, SECRET);
	ran("{\"n\":1}");
	answer = again(&ada, ",\"inputs\":{\"n\":\"one\"}");
	is_str(tool_at(answer, "/details/pointer"), "/inputs/n",
	       "merged inputs that do not fit the schema are refused");
	ok(server_run() == NULL, "merged inputs that do not fit make no run");
	end();
}

TEST(secret_inputs)
{
	struct json_object *answer;

	begin(NULL, SECRET);
	ran("{\"key\":\"k\",\"n\":1}");
	answer = again(&ada, "");
	is_str(tool_at(answer, "/details/missing"), "[\"key\"]",
	       "secret inputs, which were not kept, have to be given again");
	ok(server_run() == NULL, "a run without its secrets is not made");
	again(&ada, ",\"inputs\":{\"key\":\"again\"}");
	ok(inputs() != NULL && strstr(inputs(), "\"again\"") != NULL &&
	       strstr(inputs(), "\"n\":1") != NULL,
	   "secret inputs that are given again join those that were kept");
	end();
}

TEST(inputs_that_were_not_kept)
{
	struct json_object *answer;

	begin("[limits]\nkeep_inputs_bytes = 8\n", NULL);
	ran("{\"a\":\"0123456789\"}");
	answer = again(&ada, "");
	is_str(tool_at(answer, "/details/pointer"), "/inputs",
	       "inputs that were too large to be kept have to be given again");
	is_str(tool_at(answer, "/details/allowed"), "8",
	       "a refusal for want of inputs names the bound");
	again(&ada, ",\"inputs\":{\"b\":1}");
	is_str(inputs(), "{\"b\":1}",
	       "inputs of the call are all where none were kept");
	end();
}

TEST(runs_that_have_not_ended)
{
	struct json_object *answer;

	begin(NULL, NULL);
	run("{}");
	answer = again(&ada, "");
	is_str(tool_at(answer, "/details/pointer"), "/runId",
	       "a run that waits is not tried again");
	ok(strstr(tool_at(answer, "/error"), "queued") != NULL,
	   "a refusal to try an open run again has its status");
	server_run_start(server_run());
	ok(strstr(tool_at(again(&ada, ""), "/error"), "running") != NULL,
	   "a run that goes on is not tried again");
	server_run_end(server_run(), "1");
	end();
}

TEST(runs_of_others)
{
	begin(NULL, NULL);
	ran("{}");
	is_str(tool_at(again(&bob, ""), "/errorCode"), "RUN_NOT_FOUND",
	       "another requestor's run is not tried again");
	snprintf(id, sizeof(id), "run_none");
	is_str(tool_at(again(&ada, ""), "/errorCode"), "RUN_NOT_FOUND",
	       "an unknown run is not tried again");
	end();
}

TEST(version)
{
	begin(NULL, NULL);
	ran("{}");
	server_package("sum", "2.0.0", NULL);
	server_load();
	again(&ada, "");
	is_str(server_run()->template->version_text, "1.0.0",
	       "a run is tried again in its own version");
	server_run_end(server_run(), "1");
	again(&ada, ",\"templateVersion\":\"2.0.0\"");
	is_str(server_run()->template->version_text, "2.0.0",
	       "a run is tried again in the version that is asked for");
	server_run_end(server_run(), "1");
	is_str(tool_at(again(&ada, ",\"templateVersion\":\"3.0.0\""),
		       "/errorCode"),
	       "TEMPLATE_VERSION_UNSUPPORTED",
	       "a run is not tried again in a version that is not installed");
	end();
}

TEST(version_that_is_gone)
{
	char *path;

	begin(NULL, NULL);
	ran("{}");
	server_package("sum", "2.0.0", NULL);
	path = xasprintf("%s/templates/sum-1.0.0/template.json", server.dir);
	unlink(path);
	free(path);
	server_load();
	again(&ada, "");
	is_str(server_run()->template->version_text, "2.0.0",
	       "a run whose version is gone is tried again in the newest");
	end();
}

TEST(large_inputs_are_merged_on_a_thread)
{
	size_t n = (size_t)RPC_ASYNC_LARGE + 1;
	char *text = xcalloc(1, n + 32);

	begin(NULL, NULL);
	strcpy(text, "{\"a\":\"");
	memset(text + strlen(text), 'x', n);
	strcat(text, "\"}");
	ran(text);
	again(&ada, ",\"inputs\":{\"b\":1}");
	is_int((int64_t)server_run()->inputs_len, (int64_t)strlen(text) + 6,
	       "large inputs are merged with those of the call");
	ok(strstr(inputs(), "\"b\":1") != NULL,
	   "inputs of the call join large inputs");
	server_run_end(server_run(), "1");
	is_str(tool_at(again(&ada, ",\"members\":{\"/a/b\":1}"),
		       "/details/pointer"),
	       "/members", "a pointer through a large text is refused");
	free(text);
	end();
}

static _Atomic bool go;

static void busy(struct thread_pool_job *j, void *arg)
{
	(void)j, (void)arg;
	while (!go)
		usleep(1000);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void over(void *arg, const struct thread_pool_result *res)
{
	(void)arg, (void)res;
}

/* A requestor has as many jobs on the threads as may be. */
TEST(no_thread_for_large_inputs)
{
	static const struct thread_pool_kind kind = {.name = "busy",
						     .cpu_ms = 60000,
						     .work = busy,
						     .done = over,
						     .drop = nothing};
	size_t n = (size_t)RPC_ASYNC_LARGE + 1;
	char *text = xcalloc(1, n + 32);
	struct json_object *answer;

	begin(NULL, NULL);
	strcpy(text, "{\"a\":\"");
	memset(text + strlen(text), 'x', n);
	strcat(text, "\"}");
	ran(text);
	go = false;
	while (thread_pool_submit(server.context.thread_pool,
				  ada.session.requestor, &kind, NULL) != NULL)
		;
	answer = again(&ada, ",\"inputs\":{\"b\":1}");
	is_str(at(answer, "/error/message"), RPC_ASYNC_FULL,
	       "large inputs are not merged while the requestor's jobs wait");
	ok(server_run() == NULL,
	   "large inputs that are not merged make no run");
	go = true;
	free(text);
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
