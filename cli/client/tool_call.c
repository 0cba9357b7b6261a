/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_call.c - one tool call to a server and its answer, for the subcommands.
 * When the server is lost or refuses, the functions print the reason and return
 * the exit status, for the caller to return.
 */
#include "cli/client/tool_call.h"

#include <time.h>

#include "cli/terminal/json_io.h"
#include "cli/client/report.h"
#include "proto/json/json_pack.h"

#define LOOKS 30 /* at a new tab, a tenth of a second apart */

int tool_call(const struct cli *cli, struct client *c, const char *tool,
	      struct json_object *args, struct json_object **out)
{
	struct tool_result a;
	int rc = client_tool(c, tool, args, &a);

	*out = NULL;
	if (rc != 0)
		return rc;
	if (a.good) {
		*out = a.value;
		return 0;
	}
	if (cli->json)
		json_pretty_print(a.value, true);
	rc = report_refusal(a.value, NULL);
	tool_result_fini(&a);
	return rc;
}

int tool_call_run(const struct cli *cli, struct client *c, const char *run,
		  struct json_object **out)
{
	return tool_call(cli, c, "get_task_run", json_pack("runId:s", run),
			 out);
}

int tool_call_profile(const struct cli *cli, struct client *c,
		      struct json_object **out)
{
	return tool_call(cli, c, "get_runtime_profile",
			 json_object_new_object(), out);
}

bool tool_call_is_ready(struct json_object *profile)
{
	struct json_object *health = json_member(profile, "health");

	return health == NULL || json_member_bool(health, "ready");
}

int tool_call_tab(const struct cli *cli, struct client *c,
		  struct json_object **profile, struct json_object **refusal)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	struct tool_result tab, closed;
	bool caged = false;
	int rc = client_tool(c, "create_tab", json_object_new_object(), &tab);

	*profile = *refusal = NULL;
	if (rc != 0)
		return rc;
	if (!tab.good)
		*refusal = json_object_get(tab.value);
	for (int i = 0; rc == 0 && tab.good && !caged && i < LOOKS; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		json_object_put(*profile);
		rc = tool_call_profile(cli, c, profile);
		caged = json_member_bool(json_member(*profile, "browser"),
					 "sandboxed");
	}
	if (rc == 0 && tab.good) {
		rc = client_tool(
		    c, "close_session",
		    json_pack("sessionId:s",
			      json_member_str(tab.value, "sessionId")),
		    &closed);
		if (rc == 0)
			tool_result_fini(&closed);
	}
	tool_result_fini(&tab);
	return rc;
}

static int more_templates(const struct cli *cli, struct client *c,
			  struct json_object *all)
{
	struct json_object *list = json_member(all, "templates"), *more, *next;

	while ((next = json_member(all, "nextOffset")) != NULL) {
		struct json_object *args = json_pack("offset:O", next);
		int rc;

		json_object_object_del(all, "nextOffset");
		rc = tool_call(cli, c, "list_task_templates", args, &more);
		if (rc != 0)
			return rc;
		next = json_member(more, "templates");
		json_each(one, next)
			json_object_array_add(list, json_object_get(one));
		next = json_member(more, "nextOffset");
		json_add(all, "nextOffset?O", next);
		json_object_put(more);
	}
	return 0;
}

int tool_call_templates(const struct cli *cli, struct client *c,
			struct json_object **out)
{
	int rc = tool_call(cli, c, "list_task_templates",
			   json_object_new_object(), out);

	if (rc == 0)
		rc = more_templates(cli, c, *out);
	if (rc == 0 || *out == NULL)
		return rc;
	json_object_put(*out);
	*out = NULL;
	return rc;
}
