/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_id.c - finds the whole id of a run from its beginning or from "last";
 * main.c calls it for each command with runs as operands. If several runs fit,
 * a message asks for more of the id; if no run fits, GIVEN is copied, for the
 * server to refuse.
 */
#include "cli/client/run_id.h"

#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "cli/client/tool_call.h"
#include "proto/json/json_pack.h"

#define LAST_OF                                                                \
	100 /* the newest runs, among which is the last that a client called */
#define ID_CHARS "234567abcdefghijklmnopqrstuvwxyz"
#define ID_CHARS_MAX (ID_TEXT("run") - 4)
#define LEAST_CHARS                                                            \
	4 /* least length without the prefix, so that few words look like ids */

char *run_id_beginning(const char *given, const char *kind)
{
	size_t n = strlen(kind);
	bool whole = strncmp(given, kind, n) == 0;
	const char *chars = whole ? given + n : given;
	size_t len = strlen(chars);

	if (strspn(chars, ID_CHARS) != len || len > ID_CHARS_MAX ||
	    (whole ? len == ID_CHARS_MAX : len < LEAST_CHARS))
		return NULL;
	return whole ? xstrdup(given) : xasprintf("%s%s", kind, given);
}

/* Return the newest of RUNS that a client called; else the caller of the newest. */
static const char *last_of(struct json_object *runs)
{
	json_each(run, runs)
		if (json_member_str(run, "parentRunId") == NULL)
			return json_member_str(run, "runId");
	return json_member_str(json_object_array_get_idx(runs, 0),
			       "parentRunId");
}

int run_id_find(const struct cli *cli, struct client *c, const char *given,
		char **id)
{
	bool last = strcmp(given, "last") == 0;
	char *prefix = last ? NULL : run_id_beginning(given, "run_");
	struct json_object *page, *runs;
	int rc;

	if (!last && prefix == NULL) {
		*id = xstrdup(given);
		return 0;
	}
	rc = tool_call(
	    cli, c, "list_task_runs",
	    json_pack("limit:i idPrefix?s", last ? LAST_OF : 2, prefix), &page);
	runs = json_member(page, "runs");
	if (rc == 0 && json_length(runs) > 1 && !last)
		rc = message_fail(
		    CLI_USAGE,
		    "several of your runs begin with \"%s\"; say more of the id "
		    "(paddock ps -a%s has them)",
		    given, server_flags());
	else if (rc == 0 && json_length(runs) == 0 && last)
		rc = message_fail(CLI_ABSENT,
				  "there is no last run: you have none");
	else if (rc == 0 && last)
		*id = xstrdup(last_of(runs));
	else if (rc == 0)
		*id = xstrdup(
		    json_length(runs) == 0
			? given
			: json_member_str(json_object_array_get_idx(runs, 0),
					  "runId"));
	json_object_put(page);
	free(prefix);
	return rc;
}
