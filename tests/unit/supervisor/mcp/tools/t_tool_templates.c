/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_templates.c - list_task_templates: which templates a client sees, what an entry
 * says, and how a list that is too long for an answer goes on.
 */
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct client ada, few;

static void begin(void)
{
	server_begin("[requestor \"few\"]\nuid = 8\ntemplates = sum\n"
		     "[browser]\nenabled = no\n");
	server_package(
	    "sum", "1.0.0",
	    "\"trustLevelSupport\":[\"remote\",\"local\"],"
	    "\"limits\":{\"maxTimeoutMs\":1000},\"executionMode\":\"sync\","
	    "\"supportsPartialSuccess\":true");
	server_package(
	    "look", "1.0.0",
	    "\"trustLevelSupport\":[\"remote\"],"
	    "\"outputsSchema\":{\"type\":\"object\"},"
	    "\"prompts\":[{\"name\":\"hello\",\"title\":\"Hello\",\"messages\":"
	    "[{\"role\":\"user\",\"content\":{\"type\":\"text\","
	    "\"text\":\"hi\"}}]}],"
	    "\"resources\":[{\"uri\":\"look://a\",\"name\":\"a\","
	    "\"text\":\"secret text\"}]");
	server_package("browse", "1.0.0", "\"tools\":[\"create_tab\"]");
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&few, 8, MCP_2025_11_25);
}

static void end(void)
{
	client_end(&ada);
	client_end(&few);
	server_end();
}

static struct json_object *list(struct client *c, const char *args)
{
	return client_tool(c, "list_task_templates", "%s", args);
}

static int length(struct json_object *answer)
{
	tool_at(answer, "");
	return (int)json_length(
	    json_member(json_member(answer, "tool"), "templates"));
}

TEST(all)
{
	struct json_object *answer;

	begin();
	answer = list(&ada, "{}");
	is_int(length(answer), 3, "all templates that may be seen are listed");
	is_str(tool_at(answer, "/templates/0/templateId"), "browse",
	       "templates are listed by id");
	is_str(tool_at(answer, "/templates/2/limits/maxTimeoutMs"), "1000",
	       "an entry has the limits of the manifest");
	is_str(tool_at(answer, "/templates/2/effectiveLimits"), NULL,
	       "a list of all templates has no effective limits");
	is_str(tool_at(answer, "/templates/0/executionMode"), "auto",
	       "an entry has the mode that holds without one in the manifest");
	is_str(tool_at(answer, "/templates/2/executionMode"), "sync",
	       "an entry has the mode of the manifest");
	is_str(tool_at(answer, "/templates/2/supportsPartialSuccess"), "true",
	       "an entry says whether a run may succeed in part");
	is_str(tool_at(answer, "/templates/2/trustLevelSupport"),
	       "[\"local\",\"remote\"]",
	       "an entry has its trust levels in order");
	is_str(tool_at(answer, "/templates/2/outputsSchema"), "{}",
	       "an entry without outputsSchema says so by an empty schema");
	is_str(tool_at(answer, "/nextOffset"), NULL,
	       "a list with all templates has no next offset");
	end();
}

TEST(for_a_requestor)
{
	struct json_object *answer;

	begin();
	answer = list(&few, "{}");
	is_int(length(answer), 1,
	       "a requestor is listed the templates of its section alone");
	is_str(tool_at(answer, "/templates/0/templateId"), "sum",
	       "a requestor is listed the template that its section names");
	is_int(length(list(&few, "{\"templateId\":\"look\"}")), 0,
	       "a requestor is not shown a template that it may not see");
	end();
}

TEST(one)
{
	struct json_object *answer;

	begin();
	answer = list(&ada, "{\"templateId\":\"sum\"}");
	is_int(length(answer), 1, "a template that is asked for comes alone");
	is_str(tool_at(answer,
		       "/templates/0/effectiveLimits/maxTimeoutMs/allowed"),
	       "1000", "a template that is asked for has its effective limits");
	is_int(length(list(&ada, "{\"templateId\":\"none\"}")), 0,
	       "an unknown template is an empty list");
	end();
}

TEST(available)
{
	struct json_object *answer;

	begin();
	answer = list(&ada, "{}");
	is_str(tool_at(answer, "/templates/2/available"), "true",
	       "a template that may be run is available");
	is_str(tool_at(answer, "/templates/2/unavailableReason"), NULL,
	       "a template that is available has no reason why not");
	is_str(tool_at(answer, "/templates/1/available"), "false",
	       "a template for remote clients is not available to a local one");
	ok(strstr(tool_at(answer, "/templates/1/unavailableReason"),
		  "trust level") != NULL,
	   "a template for others says that the trust level is the reason");
	is_str(tool_at(answer, "/templates/0/available"), "false",
	       "a template that needs a browser is not available without one");
	ada.session.via = TRUST_REMOTE;
	is_str(tool_at(list(&ada, "{}"), "/templates/1/available"), "true",
	       "a template for remote clients is available to a remote one");
	end();
}

TEST(offers)
{
	struct json_object *answer;

	begin();
	answer = list(&ada, "{\"templateId\":\"look\"}");
	is_str(tool_at(answer, "/templates/0/prompts/0/title"), "Hello",
	       "an entry has the prompts of its template");
	is_str(tool_at(answer, "/templates/0/prompts/0/messages"), NULL,
	       "a prompt is listed without its messages");
	is_str(tool_at(answer, "/templates/0/resources/0/uri"), "look://a",
	       "an entry has the resources of its template");
	is_str(tool_at(answer, "/templates/0/resources/0/text"), NULL,
	       "a resource is listed without its text");
	is_str(tool_at(list(&ada, "{\"templateId\":\"sum\"}"),
		       "/templates/0/prompts"),
	       NULL, "a template without prompts has no list of prompts");
	end();
}

TEST(offset)
{
	struct json_object *answer;

	begin();
	answer = list(&ada, "{\"offset\":1}");
	is_int(length(answer), 2, "an offset leaves that many templates out");
	is_str(tool_at(answer, "/templates/0/templateId"), "look",
	       "a list with an offset begins behind the templates left out");
	is_int(length(list(&ada, "{\"offset\":3}")), 0,
	       "an offset of all templates leaves none");
	end();
}

#define MANY 40
#define LONG_TEXT 9900 /* bytes of a description */

/* Forty templates of 10 kB each need several pieces, each in a turn of its own. */
static void begin_long(void)
{
	char *members = xcalloc(1, LONG_TEXT + 32), id[8];

	server_begin(NULL);
	strcpy(members, "\"description\":\"");
	memset(members + strlen(members), 'x', LONG_TEXT);
	strcat(members, "\"");
	for (int i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "t%02d", i);
		server_package(id, "1.0.0", members);
	}
	free(members);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
}

TEST(long_list_in_pieces)
{
	unsigned call;

	begin_long();
	call = client_send(&ada, "tools/call",
			   "{\"name\":\"list_task_templates\"}");
	ok(client_answered(&ada, call) == NULL,
	   "a list of 400 kB is not made in one turn of the loop");
	is_int((int64_t)ada.session.n_reads, 1,
	       "a long list that is being made counts as a large answer");
	is_int(length(client_wait(&ada, call)), MANY,
	       "a list that was made in pieces has all templates");
	is_int((int64_t)ada.session.n_reads, 0,
	       "a long list that was sent counts no more");
	client_end(&ada);
	server_end();
}

TEST(long_list_that_is_cancelled)
{
	unsigned call;

	begin_long();
	call = client_send(&ada, "tools/call",
			   "{\"name\":\"list_task_templates\"}");
	client_cancel(&ada, call);
	while (server.turns.n_lanes > 0)
		event_base_loop(server.context.base, EVLOOP_ONCE);
	ok(client_answered(&ada, call) == NULL,
	   "a long list that was cancelled is not sent");
	is_int(server.context.catalogue->all[0]->users, 1,
	       "a long list that was cancelled lets its templates go");
	client_end(&ada);
	server_end();
}

TEST(list_beyond_the_longest_answer)
{
	struct json_object *answer;
	int n, rest;

	begin_long();
	server.config->max_answer_bytes = 800000; /* a quarter: 20 templates */
	answer = client_tool(&ada, "list_task_templates", "{}");
	n = length(answer);
	ok(n > 0 && n < MANY,
	   "a list with no room for all templates has a part of them");
	is_int(atoi(tool_at(answer, "/nextOffset")), n,
	       "a part of a list says at which offset the next begins");
	rest = length(
	    client_tool(&ada, "list_task_templates", "{\"offset\":%d}", n));
	is_int(n + rest, MANY, "the parts of a list have all templates");
	client_end(&ada);
	server_end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
