/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.c - "paddock usage": what runs have used, by requestor and template, and what
 * was uploaded, as a table or JSON. main.c's table calls it. A server that refuses or is lost ends it;
 * when nothing was used it says so on stderr.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
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

#define UPLOADS "(uploads)" /* in the place of a template, which is called so */
#define GAPS 9		    /* between columns, and the last one is left free */

static struct {
	const char *since;
} flags;

static const struct opt opts[] = {
    {"since", 0, OPT_TEXT, &flags.since, "DURATION",
     "only runs of that time: 12h, 7d; it is counted by the hour"},
};

enum { REQUESTOR, TEMPLATE, RUNS, CPU, KEPT, COLUMNS };

/* A line of the table: what each column says, the caller's until the next. */
struct line {
	const char *text[COLUMNS];
	char number[COLUMNS][QUANTITY_SIZE];
};

static const struct line heads = {
    .text = {"REQUESTOR", "TEMPLATE", "RUNS", "CPU", "KEPT"}};

static void read_row(struct line *l, struct json_object *row)
{
	bool uploads = json_member_str(row, "templateId") == NULL;

	*l = (struct line){0};
	snprintf(l->number[RUNS], QUANTITY_SIZE, "%" PRId64,
		 json_member_int(row, uploads ? "uploads" : "runs"));
	l->text[REQUESTOR] = json_member_str(row, "requestor");
	l->text[TEMPLATE] =
	    uploads ? UPLOADS : json_member_str(row, "templateId");
	l->text[RUNS] = l->number[RUNS];
	l->text[CPU] = uploads ? "-"
			       : quantity(l->number[CPU],
					  json_member_int(row, "cpuMs"), "ms");
	l->text[KEPT] =
	    quantity(l->number[KEPT], json_member_int(row, "bytes"), "bytes");
}

static void widen(size_t wide[COLUMNS], const struct line *l)
{
	for (int i = 0; i < COLUMNS; i++) {
		const char *text = l->text[i] != NULL ? l->text[i] : "";
		size_t n = sanitize_width(text, strlen(text));

		wide[i] = n > wide[i] ? n : wide[i];
	}
}

/* Numbers stay whole: where a line is too long both names give way, the longer first. */
static void narrow(size_t wide[COLUMNS])
{
	size_t left = text_left(wide[RUNS] + wide[CPU] + wide[KEPT] + GAPS);
	size_t half = left / 2;

	if (left == SANITIZE_NO_LIMIT ||
	    wide[REQUESTOR] + wide[TEMPLATE] <= left)
		return;
	if (wide[REQUESTOR] <= half)
		wide[TEMPLATE] = left - wide[REQUESTOR];
	else if (wide[TEMPLATE] <= half)
		wide[REQUESTOR] = left - wide[TEMPLATE];
	else
		wide[REQUESTOR] = wide[TEMPLATE] = half;
}

static void show_line(const struct line *l, const size_t wide[COLUMNS])
{
	for (int i = 0; i < RUNS; i++) {
		safe_print_cut(l->text[i], wide[i],
			       isatty(STDOUT_FILENO) ? wide[i]
						     : SANITIZE_NO_LIMIT);
		safe_printf("  ");
	}
	safe_printf("%*s  %*s  %*s\n", (int)wide[RUNS], l->text[RUNS],
		    (int)wide[CPU], l->text[CPU], (int)wide[KEPT],
		    l->text[KEPT]);
}

static void show(struct json_object *rows)
{
	size_t wide[COLUMNS] = {0};
	struct line l;

	if (json_length(rows) == 0)
		return;
	widen(wide, &heads);
	json_each(row, rows) {
		read_row(&l, row);
		widen(wide, &l);
	}
	narrow(wide);
	show_line(&heads, wide);
	json_each(row, rows) {
		read_row(&l, row);
		show_line(&l, wide);
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
    .text =
	"Runs and CPU time count runs that were deleted, too; KEPT is what "
	"is there of\nall of them: records, logs and artifacts. What was "
	"uploaded has a line of its own,\n" UPLOADS ". An operator sees all "
	"requestors.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .call = usage,
};
