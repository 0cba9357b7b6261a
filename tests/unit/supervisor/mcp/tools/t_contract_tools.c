/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_contract_tools.c - the table of the contract's tools, errors of arguments, and
 * get_runtime_profile.
 */
#include "supervisor/mcp/tools/contract_tools.h"

#include <string.h>

#include "proto/json/json.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

TEST(table)
{
	const struct contract_tool *all = contract_tools();

	for (size_t i = 0; i < CONTRACT_TOOLS; i++) {
		is_str(json_member_str(all[i].definition, "name"), all[i].name,
		       "%s has the definition of its name", all[i].name);
		ok(all[i].serve != NULL && all[i].input != NULL,
		   "%s has a function and a schema", all[i].name);
		ok(json_member_str(all[i].definition, "description") != NULL,
		   "%s has a description", all[i].name);
	}
	ok(contract_tools() == all, "a second call returns the same table");
	ok(json_object_equal(json_member(all[1].definition, "outputSchema"),
			     json_member(all[7].definition, "outputSchema")),
	   "retry_task_run has the outputSchema of run_task_template");
	contract_tools_fini();
	is_str(json_member_str(contract_tools()[0].definition, "name"),
	       "list_task_templates",
	       "the table is made anew when it is needed");
	contract_tools_fini();
}

TEST(wrong_argument)
{
	struct schema_error err = {.pointer = "/a/0",
				   .keyword = "type",
				   .expected = "a string",
				   .text = "a/0 is a number"};
	struct tool_error r = {0};

	contract_tools_invalid(&r, "/inputs", &err);
	is_str(r.code, "INVALID_PARAMETER", "a wrong argument has its code");
	is_str(r.message, "a/0 is a number",
	       "a wrong argument has the words of the schema");
	is_str(json_member_str(r.details, "pointer"), "/inputs/a/0",
	       "a wrong argument is placed behind the prefix");
	is_str(json_member_str(r.details, "keyword"), "type",
	       "a wrong argument names the keyword of the schema");
	is_str(json_member_str(r.details, "expected"), "a string",
	       "a wrong argument names what would pass");
	tool_error_fini(&r);
}

/* ---- get_runtime_profile ---- */

static struct client ada, bob;

static struct json_object *profile(struct client *c)
{
	return client_tool(c, "get_runtime_profile", "{}");
}

static void begin(void)
{
	server_begin("[limits]\nmax_queued_runs = 17\n[browser]\nenabled = no\n"
		     "[requestor \"ada\"]\nuid = 7\nmax_concurrent_runs = 3\n");
	server_package("sum", "1.0.0", NULL);
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

TEST(profile_of_limits)
{
	struct json_object *answer;

	begin();
	answer = profile(&ada);
	is_str(tool_at(answer, "/requestor"), "ada",
	       "a profile names its requestor");
	is_str(tool_at(answer, "/trustLevel"), "local",
	       "a profile has the trust level of the connection");
	is_str(tool_at(answer, "/limits/maxQueuedRuns"), "17",
	       "a profile has the limits of the server, in the names of JSON");
	is_str(tool_at(answer, "/requestorLimits/maxConcurrentRuns"), "3",
	       "a profile has the limits of the requestor");
	is_str(tool_at(answer, "/requestorLimits/maxQueuedRuns"), NULL,
	       "a profile leaves out limits that the requestor has not");
	is_str(tool_at(profile(&bob), "/requestorLimits"), "{}",
	       "a requestor without a section has no limits of its own");
	ok(tool_at(answer, "/limits/maxArtifactInlineBytes") != NULL,
	   "a profile says how many bytes of an artifact an answer has");
	is_str(tool_at(answer, "/isolation/level"), "test",
	       "a profile says how well runs are isolated");
	is_str(tool_at(answer, "/browser/available"), "false",
	       "a profile says that there is no browser");
	is_str(tool_at(answer, "/programs"), NULL,
	       "a profile says nothing of programs before they are measured");
	server.isolation.programs_known = true;
	ok(tool_at(profile(&ada), "/programs/available") != NULL,
	   "a profile says whether programs can be run, once that is measured");
	end();
}

TEST(profile_of_use)
{
	struct json_object *answer;

	begin();
	client_tool(&ada, "run_task_template",
		    "{\"templateId\":\"sum\",\"inputs\":{},"
		    "\"options\":{\"mode\":\"async\"}}");
	server_artifact(server_run(), "a", "text/plain", "hello", 5);
	answer = profile(&ada);
	is_str(tool_at(answer, "/usage/queued"), "1",
	       "a profile counts the runs of its requestor that wait");
	is_str(tool_at(answer, "/usage/running"), "0",
	       "a profile counts the runs of its requestor that go on");
	ok(atoi(tool_at(answer, "/usage/artifactBytes")) >= 5,
	   "a profile counts the bytes of its requestor's artifacts");
	ok(atoi(tool_at(answer, "/usage/storeBytes")) >
	       atoi(tool_at(answer, "/usage/artifactBytes")),
	   "a profile counts the rows of its requestor beside the artifacts");
	is_str(tool_at(profile(&bob), "/usage/queued"), "0",
	       "a profile counts no other requestor's runs");
	server_run_end(server_run(), "1");
	end();
}

TEST(profile_of_health)
{
	struct json_object *answer;

	begin();
	answer = profile(&ada);
	is_str(tool_at(answer, "/store/available"), "true",
	       "a profile says that the store can be written");
	is_str(tool_at(answer, "/store/reason"), NULL,
	       "a store that can be written has no reason why not");
	is_str(tool_at(answer, "/health/ready"), "false",
	       "a profile says that a server which starts no run is not ready");
	ada.session.via = TRUST_REMOTE;
	is_str(tool_at(profile(&ada), "/trustLevel"), "remote",
	       "a profile of a remote connection says so");
	end();
}

TEST(profile_that_is_cancelled)
{
	unsigned id;

	begin();
	id = client_send(&ada, "tools/call",
			 "{\"name\":\"get_runtime_profile\"}");
	client_cancel(&ada, id);
	server_settle();
	ok(client_answered(&ada, id) == NULL,
	   "a profile that was cancelled is not sent");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
