/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_run_idempotent.c - calls with an idempotencyKey: which call gets the run of an
 * earlier call, open or ended, and which is refused.
 */
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct client ada, bob;

static void begin(const char *members)
{
	server_begin(NULL);
	server_package("sum", "1.0.0", members);
	server_package("product", "1.0.0", NULL);
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

/* Call TEMPLATE with INPUTS and the key K; the call may be answered later. */
static unsigned call(struct client *c, const char *template, const char *inputs,
		     const char *mode)
{
	unsigned id = client_send(
	    c, "tools/call",
	    "{\"name\":\"run_task_template\",\"arguments\":{\"templateId\":"
	    "\"%s\",\"inputs\":%s,\"options\":{\"idempotencyKey\":\"K\","
	    "\"mode\":\"%s\"}}}",
	    template, inputs, mode);

	server_settle();
	return id;
}

static struct json_object *handle(struct client *c, const char *inputs)
{
	return client_wait(c, call(c, "sum", inputs, "async"));
}

TEST(open_run)
{
	struct json_object *first, *second;

	begin(NULL);
	first = handle(&ada, "{\"a\":1,\"b\":2}");
	is_str(tool_at(first, "/deduplicated"), NULL,
	       "the first call with a key is not marked as repeated");
	second = handle(&ada, "{\"b\":2,\"a\":1}");
	is_str(tool_at(second, "/runId"), tool_at(first, "/runId"),
	       "the same inputs in another order get the run of the key");
	is_str(tool_at(second, "/deduplicated"), "true",
	       "a repeated call is marked as that");
	second = handle(&ada, "{\"a\":1,\"b\":3}");
	is_str(tool_at(second, "/details/pointer"), "/options/idempotencyKey",
	       "a key with other inputs is refused");
	end();
}

TEST(scope_of_a_key)
{
	struct json_object *first, *second;

	begin(NULL);
	first = handle(&ada, "{}");
	second = handle(&bob, "{}");
	ok(strcmp(tool_at(second, "/runId"), tool_at(first, "/runId")) != 0,
	   "a key of another requestor is another key");
	second = client_wait(&ada, call(&ada, "product", "{}", "async"));
	ok(strcmp(tool_at(second, "/runId"), tool_at(first, "/runId")) != 0,
	   "a key of another template is another key");
	end();
}

TEST(open_run_that_is_awaited)
{
	unsigned one, two;

	begin(NULL);
	one = call(&ada, "sum", "{}", "sync");
	two = call(&ada, "sum", "{}", "sync");
	is_int(HASH_COUNT(server.context.runs->by_id), 1,
	       "two calls with one key make one run");
	ok(client_answered(&ada, two) == NULL,
	   "a repeated call waits for the end of the run");
	server_run_end(server_run(), "{\"n\":3}");
	is_str(tool_at(client_wait(&ada, one), "/result/n"), "3",
	       "the first call has the result");
	is_str(tool_at(client_wait(&ada, two), "/result/n"), "3",
	       "the repeated call has the result");
	is_str(tool_at(client_wait(&ada, two), "/deduplicated"), "true",
	       "the repeated call is marked as that by its result");
	end();
}

TEST(repeated_call_that_is_cancelled)
{
	unsigned one, two;

	begin(NULL);
	one = call(&ada, "sum", "{}", "sync");
	two = call(&ada, "sum", "{}", "sync");
	client_cancel(&ada, two);
	server_settle();
	ok(server_run() != NULL && !run_terminal(server_run()),
	   "a repeated call that is cancelled leaves the run to the first");
	client_cancel(&ada, one);
	server_until(server_run() == NULL);
	ok(client_answered(&ada, one) == NULL,
	   "a run ends when the last call that waits for it is cancelled");
	end();
}

TEST(cancelled_call_beside_a_handle)
{
	unsigned two;

	begin(NULL);
	client_wait(&ada, call(&ada, "sum", "{}", "async"));
	two = call(&ada, "sum", "{}", "sync");
	client_cancel(&ada, two);
	server_settle();
	ok(server_run() != NULL && !run_terminal(server_run()) &&
	       server_run()->state != RUN_CANCELLING,
	   "a repeated call that is cancelled leaves the run to the handle");
	server_run_end(server_run(), "{\"n\":3}");
	end();
}

TEST(ended_run)
{
	struct json_object *first, *again;
	char id[ID_SIZE];

	begin(NULL);
	first = handle(&ada, "{\"a\":1}");
	snprintf(id, sizeof(id), "%s", tool_at(first, "/runId"));
	server_run_end(server_run(), "{\"n\":3}");
	again = client_wait(&ada, call(&ada, "sum", "{\"a\":1}", "sync"));
	is_str(tool_at(again, "/runId"), id,
	       "a repeated call finds the run that has ended");
	is_str(tool_at(again, "/result/n"), "3",
	       "a repeated call has the result of the run that has ended");
	is_str(tool_at(again, "/deduplicated"), "true",
	       "a repeated call of an ended run is marked as that");
	again = handle(&ada, "{\"a\":1}");
	is_str(tool_at(again, "/status"), "succeeded",
	       "a repeated call in mode async has the handle of an ended run");
	is_str(tool_at(again, "/result"), NULL,
	       "a handle of an ended run has no result");
	again = handle(&ada, "{\"a\":2}");
	is_str(tool_at(again, "/errorCode"), "INVALID_PARAMETER",
	       "a key of an ended run with other inputs is refused");
	ok(server_run() == NULL, "a repeated call makes no run");
	end();
}

TEST(ended_run_that_failed)
{
	struct json_object *again;

	begin(NULL);
	handle(&ada, "{}");
	server_run_fail(server_run(), "EXECUTION_ERROR", "the worker broke");
	again = client_wait(&ada, call(&ada, "sum", "{}", "sync"));
	is_str(at(again, "/result/isError"), "true",
	       "a repeated call of a run that failed is a failed call");
	is_str(tool_at(again, "/error/errorCode"), "EXECUTION_ERROR",
	       "a repeated call of a run that failed says why");
	is_str(at(handle(&ada, "{}"), "/result/isError"), NULL,
	       "a handle of a run that failed is no failed call");
	end();
}

TEST(row_without_a_view)
{
	struct json_object *again;
	struct store_run row;

	begin(NULL);
	call(&ada, "sum", "{}", "sync");
	row = help_run("uid:7", STORE_FAILED);
	row.template_id = "product";
	row.idem_key = "K";
	row.idem_digest = server_run()->idem.digest;
	row.finished_ms = 1;
	help_put(server.context.store, &row, STORE_SYNC);
	again = client_wait(&ada, call(&ada, "product", "{}", "sync"));
	is_str(tool_at(again, "/runId"), row.id,
	       "a repeated call finds a row without a view");
	is_str(at(again, "/result/isError"), "true",
	       "a row without a view of a run that failed is a failed call");
	is_str(tool_at(again, "/deduplicated"), "true",
	       "an answer from a row without a view is marked as repeated");
	server_run_end(server_run(), "1");
	end();
}

TEST(secret_inputs)
{
	begin("\"inputsSchema\":{\"type\":\"object\",\"properties\":{\"key\":{"
	      "\"type\":\"string\",\"writeOnly\":true}}}");
	handle(&ada, "{\"key\":\"k\"}");
	is_str(tool_at(handle(&ada, "{\"key\":\"k\"}"), "/deduplicated"),
	       "true", "calls with the same secret are the same");
	is_str(tool_at(handle(&ada, "{\"key\":\"l\"}"), "/errorCode"),
	       "INVALID_PARAMETER", "calls with another secret are others");
	end();
}

/* ---- tasks ---- */

static struct json_object *task(const char *ttl)
{
	return client_call(&ada, "tools/call",
			   "{\"name\":\"run_task_template\",\"task\":{\"ttl\":"
			   "%s},\"arguments\":{\"templateId\":\"sum\","
			   "\"inputs\":{},\"options\":{\"idempotencyKey\":"
			   "\"K\"}}}",
			   ttl);
}

TEST(open_task)
{
	struct json_object *first, *second;

	begin(NULL);
	first = task("60000");
	second = task("60000");
	is_str(at(second, "/result/task/taskId"),
	       at(first, "/result/task/taskId"),
	       "a repeated task is the task of the first call");
	is_str(at(second, "/result/_meta/paddock~1deduplicated"), "true",
	       "a repeated task is marked as that");
	is_str(at(first, "/result/_meta/paddock~1deduplicated"), NULL,
	       "the first task is not marked as repeated");
	server_run_end(server_run(), "1");
	second = task("60000");
	is_str(at(second, "/result/task/status"), "completed",
	       "a repeated task of an ended run is completed");
	is_str(at(second, "/result/_meta/paddock~1deduplicated"), "true",
	       "a repeated task of an ended run is marked as that");
	end();
}

TEST(run_that_is_no_task)
{
	begin(NULL);
	handle(&ada, "{}");
	is_str(tool_at(task("60000"), "/details/expected"),
	       "a key that was not used for a run that is no task, or no more",
	       "a task with the key of an open run that is none is refused");
	server_run_end(server_run(), "1");
	is_str(tool_at(task("60000"), "/errorCode"), "INVALID_PARAMETER",
	       "a task with the key of an ended run that was none is refused");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
