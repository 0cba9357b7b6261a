/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_run_task.c - calls that are tasks: by the wish of a client (2025-11-25), or by
 * the server's decision, at once or after some time (the extension of 2026-07-28).
 */
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define EXTENSION "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"
#define NEVER_MS 600000

static struct client ada, new;

static void begin(void)
{
	server_begin(NULL);
	server_package("sum", "1.0.0", NULL);
	server_package("slow", "1.0.0", "\"executionMode\":\"async\"");
	server_package("plain", "1.0.0", "\"taskSupport\":\"forbidden\"");
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&new, 7, MCP_2026_07_28);
	client_declare(&new, EXTENSION);
	server.config->task_after_ms = NEVER_MS;
}

static void end(void)
{
	client_end(&ada);
	client_end(&new);
	server_end();
}

static unsigned calls(struct client *c, const char *params)
{
	unsigned id = client_send(c, "tools/call", "%s", params);

	server_settle();
	return id;
}

TEST(task_of_a_client)
{
	struct json_object *answer;
	struct answer row = {0};
	unsigned id;

	begin();
	id = calls(&ada, "{\"name\":\"sum\",\"task\":{\"ttl\":60000}}");
	answer = client_wait(&ada, id);
	is_str(at(answer, "/result/task/status"), "working",
	       "a task is answered as working");
	is_str(at(answer, "/result/task/ttl"), "60000",
	       "a task has the ttl that was asked for");
	is_str(at(answer, "/result/task/taskId"), server_run()->id,
	       "a task has the id of its run");
	is_int(help_get(server.context.store, &row, "uid:7", server_run()->id),
	       0, "a task is in the store before it is answered");
	help_clear(&row);
	is_int(server_run()->task.form, STORE_TASK_OUTPUT,
	       "a task of a template's own tool gives the plain output");
	client_cancel(&ada, id);
	server_settle();
	ok(!run_terminal(server_run()),
	   "a task goes on when its call, which was answered, is cancelled");
	end();
}

TEST(mode_of_a_task)
{
	struct json_object *answer;

	begin();
	answer = client_call(
	    &ada, "tools/call",
	    "{\"name\":\"run_task_template\",\"task\":{},\"arguments\":{"
	    "\"templateId\":\"sum\",\"inputs\":{},\"options\":{"
	    "\"mode\":\"async\"}}}");
	is_str(tool_at(answer, "/details/pointer"), "/options/mode",
	       "a task in mode async is refused");
	ok(server_run() == NULL, "a task in mode async makes no run");
	answer = client_call(
	    &ada, "tools/call",
	    "{\"name\":\"run_task_template\",\"task\":{},\"arguments\":{"
	    "\"templateId\":\"sum\",\"inputs\":{},\"options\":{"
	    "\"mode\":\"sync\"}}}");
	ok(at(answer, "/result/task/taskId") != NULL,
	   "a task in mode sync is a task");
	is_int(server_run()->task.form, STORE_TASK_VIEW,
	       "a task of run_task_template gives the view of the run");
	end();
}

TEST(progress_of_a_task)
{
	struct run *r;

	begin();
	calls(&ada, "{\"name\":\"sum\",\"task\":{},\"_meta\":{"
		    "\"progressToken\":\"p\"}}");
	r = server_run();
	client_told(&ada, "notifications/progress");
	r->progress.told = true;
	r->progress.done = 1;
	r->progress.total = 2;
	run_tell(r, &(struct run_notice){.kind = NOTICE_PROGRESS});
	is_int(client_told(&ada, "notifications/progress"), 1,
	       "the progress of a task is told by the token of its call");
	end();
}

TEST(call_that_takes_long)
{
	unsigned id;

	begin();
	server.config->task_after_ms = 1;
	id = calls(&new, "{\"name\":\"sum\"}");
	is_str(at(client_wait(&new, id), "/result/resultType"), "task",
	       "a call that takes longer than task_after_ms becomes a task");
	is_str(at(client_wait(&new, id), "/result/taskId"), server_run()->id,
	       "a call that becomes a task gets the id of its run");
	ok(server_run()->task.form != STORE_TASK_NONE &&
	       !server_run()->task.pending,
	   "a call becomes a task once its row says so");
	ok(TAILQ_EMPTY(&server_run()->waiters),
	   "a call that has become a task no longer waits for its run");
	end();
}

TEST(call_that_would_get_a_handle)
{
	unsigned id;

	begin();
	server.config->inline_wait_ms = 1;
	id = calls(&new, "{\"name\":\"sum\"}");
	is_str(at(client_wait(&new, id), "/result/resultType"), "task",
	       "a call becomes a task when it would get a handle");
	ok(server_run()->task.told, "a task that was answered counts as told");
	end();
}

TEST(call_whose_task_cannot_be_recorded)
{
	struct run *r;
	unsigned id;

	begin();
	server.config->task_after_ms = 1;
	id = client_send(&new, "tools/call", "{\"name\":\"sum\"}");
	r = server_run();
	server_until(r->task.pending);
	ok(TAILQ_EMPTY(&r->waiters),
	   "a call that is to become a task takes no questions meanwhile");
	run_tell(r, &(struct run_notice){.kind = NOTICE_TASK,
					 .unrecorded = "the disk is full"});
	ok(!TAILQ_EMPTY(&r->waiters),
	   "a call whose task cannot be recorded waits for its run again");
	server_settle();
	ok(client_answered(&new, id) == NULL,
	   "a call whose task cannot be recorded is held open");
	server_run_end(r, "{\"n\":1}");
	is_str(at(client_wait(&new, id), "/result/structuredContent/n"), "1",
	       "a call whose task cannot be recorded has the plain result");
	end();
}

TEST(repeated_call_of_a_task)
{
	struct json_object *first, *second;
	static const char keyed[] =
	    "{\"name\":\"run_task_template\",\"arguments\":{\"templateId\":"
	    "\"slow\",\"inputs\":{},\"options\":{\"idempotencyKey\":\"K\"}}}";

	begin();
	first = client_wait(&new, calls(&new, keyed));
	second = client_wait(&new, calls(&new, keyed));
	is_str(at(second, "/result/taskId"), at(first, "/result/taskId"),
	       "a repeated call by key gets the task of the first");
	is_str(at(second, "/result/_meta/paddock~1deduplicated"), "true",
	       "a repeated call by key is marked as that");
	is_str(at(first, "/result/_meta/paddock~1deduplicated"), NULL,
	       "the first call by key is not marked as repeated");
	end();
}

TEST(call_that_takes_no_time)
{
	unsigned id;

	begin();
	id = calls(&new, "{\"name\":\"sum\"}");
	server_run_end(server_run(), "{\"n\":1}");
	is_str(at(client_wait(&new, id), "/result/structuredContent/n"), "1",
	       "a call that ends before task_after_ms is answered plainly");
	end();
}

TEST(call_of_an_asynchronous_template)
{
	unsigned id;

	begin();
	id = calls(&new, "{\"name\":\"slow\"}");
	is_str(at(client_wait(&new, id), "/result/resultType"), "task",
	       "a call that its template makes asynchronous is a task at once");
	id = calls(&new, "{\"name\":\"run_task_template\",\"arguments\":{"
			 "\"templateId\":\"sum\",\"inputs\":{},"
			 "\"options\":{\"mode\":\"async\"}}}");
	is_str(tool_at(client_wait(&new, id), "/mode"), "async",
	       "a call that its client makes asynchronous gets a handle");
	is_int(server_run()->task.form, STORE_TASK_NONE,
	       "a call that its client makes asynchronous is no task");
	end();
}

TEST(call_that_may_be_no_task)
{
	unsigned id;

	begin();
	server.config->task_after_ms = 1;
	server.config->inline_wait_ms = 30;
	id = calls(&new, "{\"name\":\"plain\"}");
	is_str(tool_at(client_wait(&new, id), "/mode"), "async",
	       "a call of a tool that may be no task gets a handle instead");
	client_declare(&new, "{}");
	id = calls(&new, "{\"name\":\"sum\"}");
	is_str(tool_at(client_wait(&new, id), "/mode"), "async",
	       "a client that declares no tasks gets a handle instead");
	end();
}

TEST(note_of_a_server_that_ends_with_its_client)
{
	struct json_object *answer;

	begin();
	server.context.with_client = true;
	answer = client_wait(&new, calls(&new, "{\"name\":\"slow\"}"));
	ok(strstr(json_text(answer, NULL), "serves your client alone") != NULL,
	   "a task of a server for one client says that it ends with it");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
