/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_runs.c - get_task_run, list_task_runs and cancel_task_run: which runs a
 * requestor sees, how long a call waits for the end of a run, and what an answer says.
 */
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define REV MCP_2025_11_25
#define LONG_MS 45000 /* the longest wait that the schema allows */

static struct client ada, bob;

static void begin(void)
{
	server_begin(NULL);
	server_package("count", "1.0.0", NULL);
	server_package("sum", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, REV);
	client_begin(&bob, 8, REV);
}

static void end(void)
{
	client_end(&ada);
	client_end(&bob);
	server_end();
}

/* Start a run of TEMPLATE for C; the id is lent until C ends. */
static const char *started(struct client *c, const char *template)
{
	return tool_at(client_tool(c, "run_task_template",
				   "{\"templateId\":\"%s\",\"inputs\":{},"
				   "\"options\":{\"mode\":\"async\"}}",
				   template),
		       "/runId");
}

static struct json_object *get(struct client *c, const char *id)
{
	return client_tool(c, "get_task_run", "{\"runId\":\"%s\"}", id);
}

static unsigned wait_for(struct client *c, const char *id, int ms)
{
	unsigned call = client_send(c, "tools/call",
				    "{\"name\":\"get_task_run\",\"arguments\":{"
				    "\"runId\":\"%s\",\"waitMs\":%d}}",
				    id, ms);

	server_settle();
	return call;
}

static void cancel(struct client *c, const char *id, const char *requested,
		   const char *status, const char *name)
{
	struct json_object *answer =
	    client_tool(c, "cancel_task_run", "{\"runId\":\"%s\"}", id);

	is_str(tool_at(answer, "/cancelRequested"), requested,
	       "cancel_task_run of %s says whether that had an effect", name);
	is_str(tool_at(answer, "/currentStatus"), status,
	       "cancel_task_run of %s has its status", name);
}

TEST(get_shows_the_state)
{
	const char *id;

	begin();
	id = started(&ada, "count");
	is_str(tool_at(get(&ada, id), "/status"), "queued",
	       "get_task_run shows a run that waits for a worker as queued");
	server_run_start(server_run());
	is_str(tool_at(get(&ada, id), "/status"), "running",
	       "get_task_run shows a run with a worker as running");
	is_str(tool_at(get(&ada, id), "/result"), NULL,
	       "get_task_run shows no result of a run that goes on");
	server_run_end(server_run(), "{\"n\":3}");
	is_str(tool_at(get(&ada, id), "/status"), "succeeded",
	       "get_task_run reads the status of an ended run from its row");
	is_str(tool_at(get(&ada, id), "/result/n"), "3",
	       "get_task_run reads the result of an ended run from its row");
	is_str(tool_at(get(&ada, id), "/node"), NULL,
	       "get_task_run names no machine where no database is shared");
	id = started(&ada, "sum");
	server_run_fail(server_run(), "EXECUTION_ERROR", "the worker broke");
	is_str(tool_at(get(&ada, id), "/status"), "failed",
	       "get_task_run shows a run that failed");
	is_str(tool_at(get(&ada, id), "/error/errorCode"), "EXECUTION_ERROR",
	       "get_task_run shows the code by which a run failed");
	is_str(at(get(&ada, id), "/result/isError"), NULL,
	       "get_task_run of a run that failed is no failed call");
	end();
}

TEST(get_is_for_the_owner)
{
	const char *id;
	struct json_object *answer;
	uint64_t before;

	begin();
	id = started(&ada, "count");
	before = bob.session.requestor->lookups_failed;
	answer = get(&bob, id);
	is_str(tool_at(answer, "/errorCode"), "RUN_NOT_FOUND",
	       "get_task_run of another requestor's open run finds none");
	is_str(at(answer, "/result/isError"), "true",
	       "get_task_run of an unknown run is a failed call");
	server_run_end(server_run(), "1");
	is_str(tool_at(get(&bob, id), "/errorCode"), "RUN_NOT_FOUND",
	       "get_task_run of another requestor's ended run finds none");
	is_int((int64_t)(bob.session.requestor->lookups_failed - before), 2,
	       "each look-up of a run that is not there is counted");
	is_int(
	    (int64_t)ada.session.requestor->lookups_failed, 0,
	    "the owner of a run is charged for no other requestor's look-up");
	end();
}

TEST(get_waits_for_the_end)
{
	const char *id;
	unsigned call;

	begin();
	id = started(&ada, "count");
	call = wait_for(&ada, id, LONG_MS);
	ok(client_answered(&ada, call) == NULL,
	   "get_task_run with waitMs is not answered while its run waits");
	server_run_start(server_run());
	ok(client_answered(&ada, call) == NULL,
	   "get_task_run with waitMs is not answered when its run begins");
	server_run_end(server_run(), "\"done\"");
	is_str(tool_at(client_wait(&ada, call), "/status"), "succeeded",
	       "get_task_run with waitMs is answered by the end of the run");
	is_str(tool_at(client_answered(&ada, call), "/result"), "done",
	       "get_task_run with waitMs brings the result of the run");
	end();
}

TEST(get_waits_no_longer_than_asked)
{
	const char *id;

	begin();
	id = started(&ada, "count");
	is_str(tool_at(client_wait(&ada, wait_for(&ada, id, 1)), "/status"),
	       "queued",
	       "get_task_run with waitMs is answered when its time is over");
	server.context.draining = true;
	is_str(
	    tool_at(client_wait(&ada, wait_for(&ada, id, LONG_MS)), "/status"),
	    "queued", "get_task_run waits for nothing while the server drains");
	server.context.draining = false;
	is_str(tool_at(client_tool(&ada, "get_task_run",
				   "{\"runId\":\"%s\",\"waitMs\":%d}", id,
				   LONG_MS + 1),
		       "/errorCode"),
	       "INVALID_PARAMETER",
	       "get_task_run refuses to wait longer than its schema allows");
	end();
}

TEST(get_waits_until_the_run_asks)
{
	const char *id;
	struct run *r;
	unsigned call;

	begin();
	id = started(&ada, "count");
	r = server_run();
	server_run_start(r);
	call = wait_for(&ada, id, LONG_MS);
	run_apply(r, EV_ASK);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
	is_str(tool_at(client_wait(&ada, call), "/awaitingInput"), "true",
	       "get_task_run is answered when its run comes to await answers");
	call = wait_for(&ada, id, LONG_MS);
	run_tell(r, &(struct run_notice){.kind = NOTICE_PROGRESS});
	ok(client_answered(&ada, call) == NULL,
	   "get_task_run is not answered by progress of its run");
	run_apply(r, EV_ANSWER);
	server_run_end(r, "1");
	is_str(tool_at(client_wait(&ada, call), "/status"), "succeeded",
	       "get_task_run of a run that awaited answers hears of its end");
	end();
}

TEST(a_wait_that_is_cancelled_leaves_the_run)
{
	const char *id;
	unsigned call;

	begin();
	id = started(&ada, "count");
	call = wait_for(&ada, id, LONG_MS);
	client_cancel(&ada, call);
	server_settle();
	ok(client_answered(&ada, call) == NULL,
	   "get_task_run that was cancelled has no answer");
	is_str(tool_at(get(&ada, id), "/status"), "queued",
	       "get_task_run that was cancelled does not cancel the run");
	ok(LIST_EMPTY(&server.sessions.observers) ||
	       LIST_NEXT(LIST_FIRST(&server.sessions.observers), link) != NULL,
	   "get_task_run that was cancelled no longer observes the server");
	server_run_end(server_run(), "1");
	end();
}

TEST(the_end_of_the_server_ends_waits)
{
	const char *id;
	struct run *r;
	unsigned call;

	begin();
	id = started(&ada, "count");
	r = server_run();
	server_run_start(r);
	call = wait_for(&ada, id, LONG_MS);
	sessions_end(&server.sessions);
	ok(client_answered(&ada, call) == NULL,
	   "a server that is to end awaits the run with those that wait for it");
	server.context.flush_until_ms = 1;
	sessions_end(&server.sessions);
	is_str(tool_at(client_wait(&ada, call), "/status"), "running",
	       "at the end of the server a wait is answered with the run");
	server.context.flush_until_ms = 0;
	server_run_end(r, "1");
	end();
}

TEST(an_end_that_is_not_recorded)
{
	const char *id;
	struct run *r;
	unsigned call;

	begin();
	id = started(&ada, "count");
	r = server_run();
	server_run_start(r);
	call = wait_for(&ada, id, LONG_MS);
	run_tell(r, &(struct run_notice){.kind = NOTICE_RECORDED,
					 .unrecorded = "the disk is full"});
	ok(strstr(json_text(client_wait(&ada, call), NULL),
		  "the disk is full") != NULL,
	   "get_task_run says why the end of its run is not recorded");
	server_run_end(r, "1");
	end();
}

TEST(an_end_that_the_server_does_not_outlive)
{
	struct help_db *lock;
	const char *id;
	unsigned call;

	begin();
	id = started(&ada, "count");
	call = wait_for(&ada, id, LONG_MS);
	lock = help_lock(server.dir);
	server_run_leave(server_run(), "1");
	sessions_end(&server.sessions);
	ok(client_answered(&ada, call) == NULL,
	   "a server that is to end awaits the record of an end");
	server.context.flush_until_ms = 1;
	sessions_end(&server.sessions);
	ok(strstr(json_text(client_wait(&ada, call), NULL),
		  "the server ends first") != NULL,
	   "a server that ends says that the end of a run is not recorded");
	server.context.flush_until_ms = 0;
	help_unlock(lock);
	server_until(server_run() == NULL);
	end();
}

TEST(get_of_a_client_that_does_not_read)
{
	const char *id;
	unsigned call;

	begin();
	id = started(&ada, "count");
	call = wait_for(&ada, id, LONG_MS);
	ada.backlogged = true;
	server_run_end(server_run(), "1");
	server_settle();
	ok(client_answered(&ada, call) == NULL,
	   "get_task_run makes no answer for a client that does not read");
	ada.backlogged = false;
	sessions_read_on(&server.context);
	is_str(tool_at(client_wait(&ada, call), "/status"), "succeeded",
	       "get_task_run answers from the row once its client reads");
	end();
}

TEST(get_too_often)
{
	const char *id;
	struct run *r;

	begin();
	id = started(&ada, "count");
	r = server_run();
	r->job.polled_ms = clock_mono_ms() + 60000;
	get(&ada, id);
	is_int((int64_t)ada.session.requestor->overpolls, 1,
	       "get_task_run counts a poll that comes too early");
	ok(r->job.polled_ms <= clock_mono_ms(),
	   "get_task_run keeps the time of the poll");
	server_run_end(r, "1");
	end();
}

TEST(a_row_without_a_view)
{
	struct store_run row;

	begin();
	row = help_run("uid:7", STORE_FAILED);
	row.finished_ms = 1;
	help_put(server.context.store, &row, STORE_SYNC);
	is_str(tool_at(get(&ada, row.id), "/status"), "failed",
	       "get_task_run shows the row of a run whose server left no view");
	is_str(tool_at(get(&ada, row.id), "/runId"), row.id,
	       "get_task_run shows the id that a row without a view has");
	end();
}

/* ---- list_task_runs ---- */

static struct json_object *list(struct client *c, const char *args)
{
	return client_tool(c, "list_task_runs", "%s", args);
}

static int listed(struct client *c, const char *args)
{
	struct json_object *answer = list(c, args);

	tool_at(answer, "");
	return (int)json_length(
	    json_member(json_member(answer, "tool"), "runs"));
}

TEST(list_filters)
{
	char first[ID_SIZE], args[128];

	begin();
	snprintf(first, sizeof(first), "%s", started(&ada, "count"));
	server_run_end(server_run(), "1");
	started(&ada, "sum");
	server_run_fail(server_run(), "EXECUTION_ERROR", "the worker broke");
	started(&ada, "sum");
	server_settle();
	is_int(listed(&ada, "{}"), 3,
	       "list_task_runs lists ended and open runs");
	is_int(listed(&bob, "{}"), 0,
	       "list_task_runs lists no other requestor's runs");
	is_int(
	    listed(&ada, "{\"templateId\":\"sum\"}"), 2,
	    "list_task_runs by templateId lists runs of that template alone");
	is_int(listed(&ada, "{\"status\":\"succeeded\"}"), 1,
	       "list_task_runs by status lists runs of that status alone");
	is_int(listed(&ada, "{\"status\":\"canceled\"}"), 0,
	       "list_task_runs by a status that no run has lists none");
	is_int(listed(&ada, "{\"limit\":2}"), 2,
	       "list_task_runs lists no more runs than its limit");
	is_int(listed(&ada, "{\"limit\":2,\"offset\":2}"), 1,
	       "list_task_runs leaves out as many runs as its offset");
	is_str(tool_at(list(&ada, "{\"limit\":1}"), "/total"), "3",
	       "list_task_runs tells the total beside a page");
	is_str(
	    tool_at(list(&ada, "{\"limit\":1,\"offset\":2}"), "/runs/0/runId"),
	    first, "list_task_runs lists the newest run first");
	snprintf(args, sizeof(args), "{\"idPrefix\":\"%s\"}", first);
	is_int(listed(&ada, args), 1,
	       "list_task_runs by a whole id as prefix lists that run");
	is_int(listed(&ada, "{\"idPrefix\":\"run_\"}"), 3,
	       "list_task_runs by the prefix of all ids lists all runs");
	is_str(tool_at(list(&ada, "{\"limit\":101}"), "/errorCode"),
	       "INVALID_PARAMETER",
	       "list_task_runs refuses a limit beyond its schema's");
	end();
}

TEST(list_since)
{
	char args[128];

	begin();
	started(&ada, "count");
	server_settle();
	snprintf(args, sizeof(args), "{\"since\":%lld}",
		 (long long)server_run()->created_ms);
	is_int(listed(&ada, args), 1,
	       "list_task_runs since the creation of a run lists that run");
	snprintf(args, sizeof(args), "{\"since\":%lld}",
		 (long long)server_run()->created_ms + 60000);
	is_int(listed(&ada, args), 0,
	       "list_task_runs since a later time does not list the run");
	snprintf(args, sizeof(args), "{\"since\":%lld,\"idPrefix\":\"run_\"}",
		 (long long)server_run()->created_ms + 60000);
	is_int(listed(&ada, args), 0,
	       "list_task_runs by a prefix keeps to its time as well");
	end();
}

/* ---- cancel_task_run ---- */

TEST(cancel_by_state)
{
	const char *id;

	begin();
	id = started(&ada, "count");
	cancel(&ada, id, "true", "canceled", "a run that waits");
	server_settle();
	is_str(tool_at(get(&ada, id), "/status"), "canceled",
	       "a run that was cancelled while it waited is recorded as that");
	cancel(&ada, id, "false", "canceled",
	       "a run that was cancelled before");
	id = started(&ada, "count");
	server_run_end(server_run(), "1");
	cancel(&ada, id, "false", "succeeded", "a run that has ended");
	is_str(tool_at(client_tool(&ada, "cancel_task_run",
				   "{\"runId\":\"%s\"}", id),
		       "/reason"),
	       "the run has ended already",
	       "cancel_task_run without effect says the reason");
	end();
}

TEST(cancel_is_for_the_owner)
{
	const char *id;

	begin();
	id = started(&ada, "count");
	is_str(tool_at(client_tool(&bob, "cancel_task_run",
				   "{\"runId\":\"%s\"}", id),
		       "/errorCode"),
	       "RUN_NOT_FOUND",
	       "cancel_task_run of another requestor's run finds none");
	is_str(tool_at(get(&ada, id), "/status"), "queued",
	       "cancel_task_run of another requestor leaves the run");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
