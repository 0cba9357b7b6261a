/* SPDX-License-Identifier: Apache-2.0 */
/* t_tasks_extension.c - tasks/get of a task whose end is not recorded yet. */
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define EXTENSION "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"

TEST(end_is_recorded_first)
{
	struct json_object *answer;
	struct client ada;
	struct run *r;
	unsigned call, get;

	server_begin(NULL);
	server_package("slow", "1.0.0", "\"executionMode\":\"async\"");
	server_load();
	client_begin(&ada, 7, MCP_2026_07_28);
	client_declare(&ada, EXTENSION);
	call = client_send(&ada, "tools/call", "{\"name\":\"slow\"}");
	is_str(at(client_wait(&ada, call), "/result/resultType"), "task",
	       "a call of a template for long runs is a task");
	r = server_run();
	server_run_start(r);
	server_run_leave(r, "[5]");
	get = client_send(&ada, "tasks/get", "{\"taskId\":\"%s\"}", r->id);
	ok(client_answered(&ada, get) == NULL,
	   "a task that ended is not shown before the end is recorded");
	answer = client_wait(&ada, get);
	is_str(at(answer, "/result/status"), "completed",
	       "a task is shown as completed when the end is recorded");
	is_str(at(answer, "/result/result/content/0/text"), "[5]",
	       "a task that ended is shown with its result");
	client_end(&ada);
	server_end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
