/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_run_files.c - calls with files among their inputs: each artifact is looked up among the
 * artifacts of the requestor before a run is made, and a refusal names the place.
 */
#include "supervisor/packages/inputs/run_files.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct client ada, bob;
static struct run *maker; /* of the artifacts */
static char art[ID_SIZE];

static struct json_object *read_files(struct client *c, const char *inputs)
{
	return client_tool(c, "run_task_template",
			   "{\"templateId\":\"read\",\"inputs\":%s,"
			   "\"options\":{\"mode\":\"async\"}}",
			   inputs);
}

static void begin(void)
{
	server_begin(NULL);
	server_package("read", "1.0.0",
		       "\"inputsSchema\":{\"type\":\"object\",\"properties\":{"
		       "\"f\":{\"type\":\"array\",\"items\":{\"type\":"
		       "\"string\",\"format\":\"paddock-file\"}}}}");
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&bob, 8, MCP_2025_11_25);
	read_files(&ada, "{}");
	maker = server_run();
	snprintf(art, sizeof(art), "%s",
		 server_artifact(maker, "a.txt", "text/plain", "hello", 5));
}

static void end(void)
{
	server_run_end(maker, "1");
	client_end(&ada);
	client_end(&bob);
	server_end();
}

TEST(no_files)
{
	begin();
	ok(maker != NULL && maker->files == NULL,
	   "a call without files makes a run without files");
	end();
}

TEST(inline_and_artifacts)
{
	char inputs[160];
	struct run *r;

	begin();
	snprintf(inputs, sizeof(inputs),
		 "{\"f\":[\"text\",{\"$artifact\":\"%s\"},\"more\"]}", art);
	read_files(&ada, inputs);
	r = server_run();
	ok(r != maker && r->files != NULL, "a call with files makes a run");
	is_int((int64_t)r->files->n, 3, "a run has all files of its call");
	is_int((int64_t)run_files_artifacts(r->files), 1,
	       "a run knows which of its files are artifacts");
	is_str(r->files->v[1].name, "a.txt",
	       "a file that is an artifact has the artifact's name");
	is_int(r->files->v[1].size, 5,
	       "a file that is an artifact has the artifact's size");
	is_str(r->files->v[1].folder, maker->id,
	       "a file that is an artifact is in the folder of its run");
	end();
}

TEST(artifact_that_is_not_there)
{
	struct json_object *answer;
	char inputs[160];

	begin();
	snprintf(inputs, sizeof(inputs),
		 "{\"f\":[\"text\",{\"$artifact\":\"%s\"}]}", art);
	answer = read_files(&bob, inputs);
	is_str(tool_at(answer, "/errorCode"), "ARTIFACT_NOT_FOUND",
	       "a file that is another requestor's artifact is refused");
	is_str(tool_at(answer, "/details/pointer"), "/inputs/f/1",
	       "a refusal of a file has the place among the inputs");
	is_int(
	    (int64_t)bob.session.requestor->lookups_failed, 1,
	    "a look-up of another requestor's artifact as a file is counted");
	answer = client_tool(&bob, "read", "%s", inputs);
	is_str(tool_at(answer, "/details/pointer"), "/f/1",
	       "the tool of a template has the place among its arguments");
	ok(server_run() == maker, "a file that is refused makes no run");
	store_expire_artifacts(server.context.store, maker->id,
			       clock_wall_ms() - 1);
	is_str(tool_at(read_files(&ada, inputs), "/errorCode"),
	       "ARTIFACT_EXPIRED", "a file that has expired is told as that");
	end();
}

TEST(file_that_is_malformed)
{
	struct json_object *answer;

	begin();
	answer = read_files(&ada, "{\"f\":[\"text\",{\"base64\":\"?\"}]}");
	is_str(tool_at(answer, "/errorCode"), "INVALID_PARAMETER",
	       "a file that is no base64 is refused");
	is_str(tool_at(answer, "/details/pointer"), "/inputs/f/1/base64",
	       "a refusal of a malformed file has its place");
	ok(server_run() == maker, "a malformed file makes no run");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
