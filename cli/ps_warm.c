/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ps_warm.c - "paddock ps --warm": the workers that wait for runs, by template,
 * as a table or JSON. ps.c calls it. A server that refuses or is lost ends it
 * with the status of such a call; where none waits it says so on stderr.
 */
#include "cli/ps_warm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/json_io.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/tool_result.h"
#include "proto/json/json_pack.h"

#define TEMPLATE_COLUMNS 24

static const char *or_dash(struct json_object *row, const char *key)
{
	const char *s = json_member_str(row, key);

	return s != NULL ? s : "-";
}

/* Of Lua's there is one kind for all templates whose limits are the same. */
static void show(struct json_object *rows)
{
	if (json_length(rows) > 0)
		safe_printf("%-*s  %-10s  %7s  %9s  %9s  %9s\n",
			    TEMPLATE_COLUMNS, "TEMPLATE", "VERSION", "WAITING",
			    "HITS", "MISSES", "REPLACED");
	json_each(row, rows) {
		const char *t = json_member_str(row, "templateId");

		safe_print_cut(t != NULL ? t : "any of Lua", TEMPLATE_COLUMNS,
			       SANITIZE_NO_LIMIT);
		safe_printf("  %-10s  %7" PRId64 "  %9" PRId64 "  %9" PRId64
			    "  %9" PRId64 "\n",
			    or_dash(row, "version"),
			    json_member_int(row, "waiting"),
			    json_member_int(row, "hits"),
			    json_member_int(row, "misses"),
			    json_member_int(row, "replaced"));
	}
	fflush(stdout);
}

int ps_warm(const struct cli *cli, struct client *c)
{
	struct tool_result a;
	struct json_object *rows;
	int rc = client_method(c, "paddock/waiting", NULL, &a);

	if (rc != 0)
		return rc;
	rows = json_member(a.value, "workers");
	if (!a.good)
		rc = report_refusal(a.value, NULL);
	else if (cli->json)
		json_pretty_print(rows, true);
	else
		show(rows);
	if (a.good && json_length(rows) == 0 && !cli->quiet)
		message_print("no worker waits: one does once a template was "
			      "used, in a server that goes on");
	tool_result_fini(&a);
	return rc;
}
