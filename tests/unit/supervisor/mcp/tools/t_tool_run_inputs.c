/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_run_inputs.c - long checks and digests of inputs: on a thread, with the outcome of short
 * checks, and refused to a requestor without room.
 */
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/supervisor/run/threads/full_pool_fixture.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define NUMBERS                                                                \
	"\"inputsSchema\":{\"type\":\"object\",\"properties\":{\"n\":{"        \
	"\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}}"

static struct client ada;

static void begin(const char *config)
{
	server_begin(config);
	server_package("sum", "1.0.0", NUMBERS);
	server_package("any", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
}

static void end(void)
{
	client_end(&ada);
	server_end();
}

/* Use up what ada's checks may take on the loop, so that the next are on a thread. */
static void use_up(void)
{
	struct requestor *q = ada.session.requestor;

	while (requestor_steps(q) > 0)
		requestor_stepped(q, requestor_steps(q));
}

static unsigned calls(const char *n)
{
	return client_send(&ada, "tools/call",
			   "{\"name\":\"run_task_template\",\"arguments\":{"
			   "\"templateId\":\"sum\",\"inputs\":{\"n\":%s},"
			   "\"options\":{\"mode\":\"async\"}}}",
			   n);
}

TEST(check_on_a_thread)
{
	unsigned id;

	begin(NULL);
	use_up();
	id = calls("[1,2]");
	ok(server_run() == NULL && client_answered(&ada, id) == NULL,
	   "a check that the loop has no time for is not done at once");
	is_str(tool_at(client_wait(&ada, id), "/status"), "queued",
	       "inputs that a thread finds right make a run");
	is_str(server_run()->inputs, "{\"n\":[1,2]}",
	       "a run has the inputs that a thread has checked");
	use_up();
	id = client_send(&ada, "tools/call",
			 "{\"name\":\"sum\",\"arguments\":{\"n\":[1,\"2\"]}}");
	is_str(tool_at(client_wait(&ada, id), "/details/pointer"), "/n/1",
	       "inputs that a thread finds wrong are refused at their place");
	end();
}

TEST(check_that_is_cancelled)
{
	unsigned id;

	begin(NULL);
	use_up();
	id = calls("[1,2]");
	client_cancel(&ada, id);
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	server_settle();
	ok(server_run() == NULL, "a call that was cancelled while its inputs "
				 "were checked makes no run");
	ok(client_answered(&ada, id) == NULL,
	   "a call that was cancelled while its inputs were checked has no "
	   "answer");
	end();
}

TEST(check_without_a_thread)
{
	unsigned id;

	begin(NULL);
	use_up();
	full_pool_begin(server.context.thread_pool, ada.session.requestor);
	id = calls("[1,2]");
	is_str(at(client_answered(&ada, id), "/result/isError"), "true",
	       "a check is refused when too many of its requestor wait");
	ok(server_run() == NULL, "a check that was refused makes no run");
	full_pool_end();
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	end();
}

TEST(check_without_cpu_time)
{
	unsigned id;

	begin("[requestor \"few\"]\nuid = 7\ncpu_seconds_per_hour = 1\n");
	requestor_charge(ada.session.requestor, 2000);
	use_up();
	id = calls("[1,2]");
	is_str(tool_at(client_answered(&ada, id), "/errorCode"),
	       "QUOTA_EXCEEDED",
	       "a check on a thread is refused to who has no CPU time left");
	ok(server_run() == NULL, "a call without CPU time makes no run");
	end();
}

/* ---- digests ---- */

/* Call with the key K, N bytes of C as input. */
static struct json_object *keyed(size_t n, char c)
{
	char *text = xcalloc(1, n + 1);
	struct json_object *answer;

	memset(text, c, n);
	answer =
	    client_tool(&ada, "run_task_template",
			"{\"templateId\":\"any\",\"inputs\":{\"a\":\"%s\"},"
			"\"options\":{\"mode\":\"async\","
			"\"idempotencyKey\":\"K\"}}",
			text);
	free(text);
	return answer;
}

TEST(digest_on_a_thread)
{
	size_t n = (size_t)RPC_ASYNC_LARGE + 1;
	struct json_object *first;

	begin(NULL);
	first = keyed(n, 'x');
	is_str(tool_at(first, "/status"), "queued",
	       "a call with a key and large inputs makes a run");
	is_str(tool_at(keyed(n, 'x'), "/runId"), tool_at(first, "/runId"),
	       "the same large inputs get the run of the key");
	is_str(tool_at(keyed(n, 'y'), "/details/pointer"),
	       "/options/idempotencyKey",
	       "a key with other large inputs is refused");
	end();
}

TEST(digest_without_a_thread)
{
	begin(NULL);
	full_pool_begin(server.context.thread_pool, ada.session.requestor);
	ok(at(keyed((size_t)RPC_ASYNC_LARGE + 1, 'x'), "/error") != NULL,
	   "a digest is refused when too many of its requestor wait");
	ok(server_run() == NULL, "a call without its digest makes no run");
	full_pool_end();
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
