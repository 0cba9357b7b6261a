/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.c - "paddock usage": what runs have used, by requestor and template, as a
 * table or JSON. main.c's table calls it. A server that refuses or is lost ends it;
 * when nothing was used it says so on stderr.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text/quantity.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/json_io.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "proto/json/json_pack.h"

#define NAME_COLUMNS 24	 /* off a terminal */
#define OTHER_COLUMNS 43 /* of the rest, and the last one is left free */

static struct {
	const char *since;
} flags;

static const struct opt opts[] = {
    {"since", 0, OPT_TEXT, &flags.since, "DURATION",
     "only runs of that time: 12h, 7d; it is counted by the hour"},
};

/* Of each of two names: what there is for both, and no more is needed. */
static int name_columns(void)
{
	size_t left = text_left(OTHER_COLUMNS) / 2;

	return left < NAME_COLUMNS ? (int)left : NAME_COLUMNS;
}

static void show_name(const char *name, int columns)
{
	safe_print_cut(name, (size_t)columns,
		       isatty(STDOUT_FILENO) ? (size_t)columns
					     : SANITIZE_NO_LIMIT);
	safe_printf("  ");
}

static void show(struct json_object *rows)
{
	char cpu[QUANTITY_SIZE], bytes[QUANTITY_SIZE];
	int columns = name_columns();

	if (json_length(rows) > 0)
		safe_printf("%-*s  %-*s  %10s  %12s  %12s\n", columns,
			    "REQUESTOR", columns, "TEMPLATE", "RUNS", "CPU",
			    "KEPT");
	json_each(row, rows) {
		show_name(json_member_str(row, "requestor"), columns);
		show_name(json_member_str(row, "templateId"), columns);
		safe_printf(
		    "%10" PRId64 "  %12s  %12s\n", json_member_int(row, "runs"),
		    quantity(cpu, json_member_int(row, "cpuMs"), "ms"),
		    quantity(bytes, json_member_int(row, "bytes"), "bytes"));
	}
	fflush(stdout);
}

static void tell(const struct cli *cli, struct json_object *result)
{
	struct json_object *rows = json_member(result, "rows");

	if (cli->json)
		json_pretty_print(rows, true);
	else
		show(rows);
	if (cli->quiet)
		return;
	if (json_length(rows) == 0)
		message_print("nothing was used%s",
			      flags.since != NULL ? " in that time" : "");
	else if (json_member_bool(result, "more"))
		message_print("there are more; those that used the most CPU "
			      "time are shown");
}

static int usage(const struct cli *cli, struct client *c, int n,
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
		tell(cli, a.value);
	else
		rc = report_refusal(a.value, NULL);
	tool_result_fini(&a);
	return rc;
}

const struct command cmd_usage = {
    .name = "usage",
    .args = "",
    .summary = "runs, CPU time and bytes by requestor and template",
    .text = "Runs and CPU time count runs that were deleted, too; KEPT is what "
	    "is there of\nall of them: records, logs and artifacts. An "
	    "operator sees all requestors.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .call = usage,
};
