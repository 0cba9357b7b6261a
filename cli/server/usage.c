/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.c - "paddock usage": prints counts, CPU time and bytes of runs and
 * uploads, by requestor and template, as a table or JSON. main.c's table calls
 * it. When the server refuses or is lost, the command ends with its status;
 * when nothing was used, stderr says so.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text/quantity.h"
#include "cli/terminal/cli.h"
#include "cli/client/client.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/opt.h"
#include "cli/client/report.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define UPLOADS "(uploads)" /* in the TEMPLATE column */

static struct {
	const char *since;
} flags;

static const struct opt opts[] = {
    {"since", 0, OPT_TEXT, &flags.since, "DURATION",
     "only runs of that time: 12h, 7d; it is counted by the hour"},
};

static const struct table_column columns[] = {{"REQUESTOR", TABLE_CUT, 0},
					      {"TEMPLATE", TABLE_CUT, 0},
					      {"RUNS", TABLE_NUMBER, 1},
					      {"CPU", TABLE_NUMBER, 0},
					      {"KEPT", TABLE_NUMBER, 2}};

static void report_usage(const struct cli *cli, struct json_object *result)
{
	struct json_object *rows = json_member(result, "rows");
	struct table *t;

	if (cli->json) {
		json_pretty_print(rows, true);
	} else {
		t = table_new(columns, ARRAY_LEN(columns));
		json_each(row, rows) {
			bool uploads =
			    json_member_str(row, "templateId") == NULL;
			char n[24], cpu[QUANTITY_SIZE] = "-",
				    kept[QUANTITY_SIZE];

			snprintf(
			    n, sizeof(n), "%" PRId64,
			    json_member_int(row, uploads ? "uploads" : "runs"));
			if (!uploads)
				quantity(cpu, json_member_int(row, "cpuMs"),
					 "ms");
			quantity(kept, json_member_int(row, "bytes"), "bytes");
			table_add(
			    t, (const char *const[]){
				   json_member_str(row, "requestor"),
				   uploads ? UPLOADS
					   : json_member_str(row, "templateId"),
				   n, cpu, kept});
		}
		table_print(t);
	}
	if (cli->quiet)
		return;
	if (json_length(rows) == 0)
		message_print("nothing was used%s",
			      flags.since != NULL ? " in that time" : "");
	else if (json_member_bool(result, "more"))
		message_print("there are more; those that used the most CPU "
			      "time are shown");
}

static int show_usage(const struct cli *cli, struct client *c, int n,
		      const char *const *arg)
{
	struct tool_result a;
	int64_t ms = 0;
	int rc;

	(void)n, (void)arg;
	if (flags.since != NULL && duration_parse(&ms, flags.since) < 0)
		return message_fail(
		    CLI_USAGE,
		    "--since is \"%.64s\"; it has to be a duration: 90m, 7d, "
		    "1h30m; a bare number is seconds",
		    flags.since);
	rc = client_method(
	    c, "paddock/usage",
	    json_pack("since?i", ms > 0 ? clock_wall_ms() - ms : 0), &a);
	if (rc != 0)
		return rc;
	if (a.good)
		report_usage(cli, a.value);
	else
		rc = report_refusal(a.value, NULL);
	tool_result_fini(&a);
	return rc;
}

const struct command cmd_usage = {
    .name = "usage",
    .args = "",
    .summary = "runs, CPU time and bytes by requestor and template",
    .text = "RUNS and CPU count deleted runs, too, among them the runs of "
	    "\"paddock doctor\".\nKEPT is the size of the records, logs and "
	    "artifacts that are still there.\nThe uploads of a requestor have "
	    "the line " UPLOADS ". An operator sees all\nrequestors.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .call = show_usage,
};
