/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_search.c - search_task_templates in one process: which templates a client
 * finds, calls that are dropped while a thread ranks, and a reload meanwhile.
 */
#include "supervisor/packages/search/search_index.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define SEARCH                                                                 \
	"{\"name\":\"search_task_templates\",\"arguments\":{\"query\":\"zebra\"}}"

static struct client ada, few;

static void begin(void)
{
	server_begin("[requestor \"few\"]\nuid = 8\ntemplates = near\n"
		     "[browser]\nenabled = no\n");
	server_package("near", "1.0.0", "\"name\":\"A zebra\"");
	server_package("near", "0.9.0", "\"name\":\"An old zebra\"");
	server_package("next", "1.0.0", "\"name\":\"A zebra\"");
	server_package(
	    "far", "1.0.0",
	    "\"name\":\"A zebra\",\"trustLevelSupport\":[\"remote\"]");
	server_package("browse", "1.0.0",
		       "\"name\":\"A zebra\",\"tools\":[\"create_tab\"]");
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

static struct json_object *search(struct client *c, const char *args)
{
	return client_tool(c, "search_task_templates", "%s", args);
}

static int length(struct json_object *answer)
{
	tool_at(answer, "");
	return (int)json_length(
	    json_member(json_member(answer, "tool"), "templates"));
}

TEST(for_whom)
{
	struct json_object *answer;

	begin();
	answer = search(&ada, "{\"query\":\"zebra\"}");
	is_int(length(answer), 2, "templates that may be run here are found");
	is_str(tool_at(answer, "/templates/0/templateId"), "near",
	       "equal templates are in the order of their ids");
	is_str(tool_at(answer, "/templates/0/version"), "1.0.0",
	       "the newest version of a template is found");
	is_int(length(search(&few, "{\"query\":\"zebra\"}")), 1,
	       "a requestor finds the templates of its section alone");
	is_int(length(search(&ada, "{\"query\":\"zebra\",\"limit\":1}")), 1,
	       "a search has no more templates than its limit");
	ada.session.via = TRUST_REMOTE;
	is_str(tool_at(search(&ada, "{\"query\":\"zebra\"}"),
		       "/templates/0/templateId"),
	       "far", "a remote client finds the templates for remote clients");
	end();
}

TEST(dropped)
{
	struct search_index *index;
	unsigned call;

	begin();
	index = server.context.catalogue->words;
	is_int(index->n, 4,
	       "the index has the newest version of each template");
	call = client_send(&ada, "tools/call", SEARCH);
	is_int(index->users, 2, "a search holds the index");
	client_cancel(&ada, call);
	server_until(index->users == 1);
	ok(client_answered(&ada, call) == NULL,
	   "a search that was cancelled is not answered");
	client_send(&few, "tools/call", SEARCH);
	client_end(&few);
	server_until(index->users == 1);
	ok(true, "a search of a client that left lets the index go");
	client_begin(&few, 8, MCP_2025_11_25);
	end();
}

TEST(reload_meanwhile)
{
	struct search_index *index;
	unsigned call;

	begin();
	index = server.context.catalogue->words;
	call = client_send(&ada, "tools/call", SEARCH);
	server_load();
	is_int(index->users, 1,
	       "a search keeps the index when its catalogue has gone");
	is_int(length(client_wait(&ada, call)), 2,
	       "a search during a reload finds the new templates");
	end();
}

TEST(too_many)
{
	unsigned last = 0, calls = THREAD_POOL_JOBS_MAX * 4;
	int busy = 0;

	begin();
	for (unsigned i = 0; i < calls; i++)
		last = client_send(&ada, "tools/call", SEARCH);
	for (unsigned i = 0; i < calls; i++) {
		const char *code =
		    tool_at(client_wait(&ada, last - i), "/errorCode");

		busy += code != NULL && strcmp(code, "QUOTA_EXCEEDED") == 0;
	}
	ok(busy > 0 && busy < (int)calls,
	   "searches beyond the jobs of a requestor are refused, and no others");
	is_int(length(search(&ada, "{\"query\":\"zebra\"}")), 2,
	       "a search after a refusal is answered");
	end();
}
int main(void)
{
	tap_run();
	return tap_done();
}
