/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_deletion.c - paddock/deleteRuns and paddock/deleteArtifacts: deletion by id and by
 * time, the reasons for which a run or an upload is kept, and malformed requests.
 */
#include "supervisor/mcp/methods/methods.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define RUNS "paddock/deleteRuns"
#define UPLOADS "paddock/deleteArtifacts"
#define LATE INT64_C(4102444800000) /* the year 2100 */

static struct client ada, bob;

static void begin(void)
{
	server_begin(NULL);
	server_package("one", "1.0.0", NULL);
	server_package("two", "1.0.0", NULL);
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

/* Start a run of C's; its id is lent until C ends. */
static const char *started(struct client *c, const char *template)
{
	return tool_at(client_tool(c, "run_task_template",
				   "{\"templateId\":\"%s\",\"inputs\":{},"
				   "\"options\":{\"mode\":\"async\"}}",
				   template),
		       "/runId");
}

static const char *ended(struct client *c, const char *template)
{
	const char *id = started(c, template);

	server_run_end(server_run(), "1");
	return id;
}

static bool is_there(struct client *c, const char *id)
{
	return tool_at(client_tool(c, "get_task_run", "{\"runId\":\"%s\"}", id),
		       "/status") != NULL;
}

static struct json_object *delete_run(struct client *c, const char *id)
{
	return client_call(c, RUNS, "{\"runIds\":[\"%s\"]}", id);
}

static void refused(struct json_object *answer, const char *words,
		    const char *name)
{
	const char *text = at(answer, "/error/message");

	is_str(at(answer, "/error/code"), "-32602", "%s is refused", name);
	ok(text != NULL && strstr(text, words) != NULL,
	   "the refusal of %s says what is wrong", name);
}

TEST(runs_by_id)
{
	struct json_object *answer;
	const char *id, *open;

	begin();
	id = ended(&ada, "one");
	open = started(&ada, "one");
	answer = client_call(
	    &ada, RUNS, "{\"runIds\":[\"%s\",\"%s\",\"run_none\"]}", id, open);
	is_str(at(answer, "/result/deleted"), "1",
	       "the number of deleted runs is told");
	ok(!is_there(&ada, id), "a run that has ended is deleted");
	ok(is_there(&ada, open), "a run that goes on is kept");
	is_str(at(answer, "/result/kept/0/runId"), open,
	       "a run that was kept is named");
	is_str(at(answer, "/result/kept/0/errorCode"), "RUN_NOT_ENDED",
	       "a run that goes on is kept for that reason");
	is_str(at(answer, "/result/kept/1/errorCode"), "RUN_NOT_FOUND",
	       "an unknown run is told as that");
	is_str(at(answer, "/result/kept/1/runId"), "run_none",
	       "an unknown run is named");
	is_str(
	    at(client_call(&ada, RUNS, "{\"runIds\":[]}"), "/result/deleted"),
	    "0", "of no ids no run is deleted");
	server_run_end(server_run(), "1");
	end();
}

TEST(runs_of_others)
{
	const char *id;

	begin();
	id = ended(&ada, "one");
	is_str(at(delete_run(&bob, id), "/result/kept/0/errorCode"),
	       "RUN_NOT_FOUND", "another requestor's run is not found");
	ok(is_there(&ada, id), "another requestor's run is not deleted");
	is_int((int64_t)bob.session.requestor->lookups_failed, 1,
	       "the deletion of what is not there is counted");
	client_call(&bob, RUNS, "{\"before\":%lld}", (long long)LATE);
	ok(is_there(&ada, id),
	   "a deletion by time deletes one's own runs alone");
	end();
}

TEST(runs_by_time)
{
	struct json_object *answer;
	const char *first, *second, *open;

	begin();
	first = ended(&ada, "one");
	second = ended(&ada, "two");
	open = started(&ada, "two");
	answer = client_call(&ada, RUNS, "{\"before\":0}");
	is_str(at(answer, "/result/deleted"), "0",
	       "no run has ended before the year 1970");
	answer =
	    client_call(&ada, RUNS, "{\"before\":%lld,\"status\":\"failed\"}",
			(long long)LATE);
	is_str(at(answer, "/result/deleted"), "0",
	       "a deletion by status leaves runs of another status");
	answer =
	    client_call(&ada, RUNS, "{\"before\":%lld,\"templateId\":\"one\"}",
			(long long)LATE);
	is_str(at(answer, "/result/deleted"), "1",
	       "a deletion by template deletes runs of that template");
	ok(!is_there(&ada, first) && is_there(&ada, second),
	   "a deletion by template leaves runs of another template");
	answer = client_call(&ada, RUNS, "{\"before\":%lld}", (long long)LATE);
	is_str(at(answer, "/result/deleted"), "1",
	       "a deletion by time deletes what has ended");
	is_str(at(answer, "/result/kept"), "[]",
	       "a deletion by time does not list open runs");
	ok(is_there(&ada, open), "a deletion by time leaves open runs");
	server_run_end(server_run(), "1");
	end();
}

TEST(many_runs_by_time)
{
	enum { MANY = 150 };
	struct json_object *answer;
	struct store_run row;

	begin();
	for (int i = 0; i < MANY; i++) {
		row = help_run("uid:7", STORE_SUCCEEDED);
		row.finished_ms = 5;
		store_put_run(server.context.store, &row, STORE_SYNC, NULL,
			      NULL);
	}
	answer = client_call(&ada, RUNS, "{\"before\":%lld}", (long long)LATE);
	is_int(atoi(at(answer, "/result/deleted")), MANY,
	       "a deletion by time goes on until all are deleted");
	end();
}

TEST(malformed)
{
	char *ids = xcalloc(1, 16384), *to = ids;

	begin();
	refused(client_call(&ada, RUNS, "{}"), "params.runIds",
		"a deletion of nothing");
	refused(client_call(&ada, RUNS, "{\"before\":-1}"), "params.before",
		"a deletion before a negative time");
	refused(client_call(&ada, RUNS, "{\"before\":\"1\"}"), "params.before",
		"a deletion before a text");
	refused(client_call(&ada, RUNS, "{\"runIds\":[],\"before\":1}"),
		"cannot go together", "a deletion by id and by time");
	refused(client_call(&ada, RUNS, "{\"runIds\":7}"), "array of strings",
		"a deletion by a number");
	refused(client_call(&ada, RUNS, "{\"runIds\":[\"a\",7]}"),
		"array of strings", "a deletion by an id that is a number");
	refused(
	    client_call(&ada, RUNS, "{\"before\":1,\"status\":\"running\"}"),
	    "params.status", "a deletion of runs that go on");
	refused(client_call(&ada, RUNS, "{\"before\":1,\"status\":\"dead\"}"),
		"params.status", "a deletion by an unknown status");
	refused(client_call(&ada, RUNS, "{\"before\":1,\"status\":7}"),
		"params.status", "a deletion by a status that is a number");
	refused(client_call(&ada, RUNS, "{\"before\":1,\"templateId\":7}"),
		"params.templateId",
		"a deletion by a template that is a number");
	for (int i = 0; i <= DELETION_MAX; i++)
		to += sprintf(to, "%s\"run_x\"", i > 0 ? "," : "");
	refused(client_call(&ada, RUNS, "{\"runIds\":[%s]}", ids),
		"more than 1000", "a deletion by too many ids");
	ids[strlen(ids) - strlen(",\"run_x\"")] = '\0';
	is_int(
	    (int64_t)json_length(json_member(
		json_member(client_call(&ada, RUNS, "{\"runIds\":[%s]}", ids),
			    "result"),
		"kept")),
	    DELETION_MAX, "a deletion by as many ids as may be is done");
	refused(client_call(&ada, UPLOADS, "{}"), "params.artifactIds",
		"a deletion of no artifacts");
	free(ids);
	end();
}

/* Keep an upload of ada's; the id is *lent* until the next call. */
static const char *upload(void)
{
	static struct store_artifact a;
	struct store_run row = {.requestor = "uid:7"};
	struct answer done = {0};
	char *path = help_file(server.dir, "incoming", "hello");

	a = help_artifact(&row, 5);
	memcpy(a.run_id, a.id, sizeof(a.run_id));
	a.expires_ms = LATE;
	store_put_artifact(server.context.store, &a, path, STORE_SYNC,
			   help_done, &done);
	server_until(done.calls > 0);
	is_int(done.rc, 0, "an upload is kept");
	help_clear(&done);
	free(path);
	return a.id;
}

TEST(uploads_by_id)
{
	struct json_object *answer;
	const char *id;

	begin();
	id = upload();
	answer = client_call(&bob, UPLOADS, "{\"artifactIds\":[\"%s\"]}", id);
	is_str(at(answer, "/result/kept/0/errorCode"), "ARTIFACT_NOT_FOUND",
	       "another requestor's upload is not found");
	answer = client_call(&ada, UPLOADS, "{\"artifactIds\":[\"%s\"]}", id);
	is_str(at(answer, "/result/deleted"), "1", "an upload is deleted");
	answer = client_call(&ada, UPLOADS, "{\"artifactIds\":[\"%s\"]}", id);
	is_str(at(answer, "/result/kept/0/artifactId"), id,
	       "an upload that was deleted is not found again");
	started(&ada, "one");
	id = server_artifact(server_run(), "a", "text/plain", "x", 1);
	answer = client_call(&ada, UPLOADS, "{\"artifactIds\":[\"%s\"]}", id);
	is_str(at(answer, "/result/kept/0/errorCode"), "ARTIFACT_OF_RUN",
	       "an artifact of a run goes with the run alone");
	ok(strstr(at(answer, "/result/kept/0/reason"), server_run()->id) !=
	       NULL,
	   "an artifact that is kept names its run");
	server_run_end(server_run(), "1");
	end();
}

TEST(uploads_by_time)
{
	struct json_object *answer;

	begin();
	upload();
	upload();
	answer = client_call(&ada, UPLOADS, "{\"before\":5}");
	is_str(at(answer, "/result/deleted"), "0",
	       "an upload is not deleted before its time");
	answer = client_call(&bob, UPLOADS, "{\"before\":6}");
	is_str(at(answer, "/result/deleted"), "0",
	       "a deletion by time leaves other requestors' uploads");
	answer = client_call(&ada, UPLOADS, "{\"before\":6}");
	is_str(at(answer, "/result/deleted"), "2",
	       "a deletion by time deletes uploads that came before");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
