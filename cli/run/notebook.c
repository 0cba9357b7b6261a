/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notebook.c - "paddock notebook ls" and "paddock notebook rm": lists the
 * server's notebooks, and ends a notebook. main.c's table calls both, and ps.c
 * the list. A missing notebook is CLI_ABSENT, and a notebook with a run under
 * way stays.
 */
#include "cli/run/notebook.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text/quantity.h"
#include "cli/client/report.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/opt.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

static struct {
	const char *template, *requestor;
} flags = {.template = "run_python"};

static const struct opt opts[] = {
    {"template", 0, OPT_TEXT, &flags.template, "TEMPLATE",
     "the notebook's template; else run_python"},
    {"requestor", 0, OPT_TEXT, &flags.requestor, "REQUESTOR",
     "the notebook's owner, for an operator; else you"},
};

/* ---- the list ---- */

static const struct table_column columns[] = {
    {"REQUESTOR", TABLE_CUT, 4},   {"TEMPLATE", TABLE_CUT, 3},
    {"NAME", TABLE_WHOLE, 0},	   {"STATE", TABLE_WHOLE, 0},
    {"RUNS", TABLE_NUMBER, 1},	   {"MEMORY", TABLE_NUMBER, 0},
    {"LAST USED", TABLE_WHOLE, 2}, {"NODE", TABLE_CUT, 5}};

/* Are ROWS of more than one requestor? */
static bool has_several(struct json_object *rows)
{
	const char *first = NULL;

	json_each(row, rows) {
		const char *name = json_member_str(row, "requestor");

		if (first != NULL && name != NULL && strcmp(first, name) != 0)
			return true;
		first = name;
	}
	return false;
}

/* Return "3.2 s ago" for the time in ROW's KEY, the caller's. */
static char *ago_of(struct json_object *row, const char *key)
{
	char text[DURATION_SIZE];
	int64_t ms = clock_wall_ms() - json_member_int(row, key);

	duration_text(text, ms > 0 ? ms : 0);
	return xasprintf("%s ago", text);
}

/* Add ROW, without the first SKIP columns. */
static void add_row(struct table *t, struct json_object *row, size_t skip)
{
	char *ago = ago_of(row, "lastUsedAt");
	char runs[24], memory[QUANTITY_SIZE] = "-";

	snprintf(runs, sizeof(runs), "%" PRId64, json_member_int(row, "runs"));
	if (json_member(row, "memoryBytes") != NULL)
		quantity(memory, json_member_int(row, "memoryBytes"), "bytes");
	table_add(t, (const char *const[]){json_member_str(row, "requestor"),
					   json_member_str(row, "templateId"),
					   json_member_str(row, "name"),
					   json_member_str(row, "state"), runs,
					   memory, ago,
					   json_member_str(row, "node")} +
			 skip);
	free(ago);
}

static void print_notebooks(struct json_object *rows)
{
	size_t skip = has_several(rows) ? 0 : 1;
	bool nodes = false; /* a row names its node, one of several servers */
	struct table *t;

	json_each(row, rows)
		nodes = nodes || json_member(row, "node") != NULL;
	t = table_new(columns + skip, ARRAY_LEN(columns) - skip - !nodes);
	json_each(row, rows)
		add_row(t, row, skip);
	table_print(t);
}

int notebook_list(const struct cli *cli, struct client *c)
{
	struct tool_result a;
	struct json_object *rows;
	int rc = client_method(c, "paddock/residents", NULL, &a);

	if (rc != 0)
		return rc;
	rows = json_member(a.value, "residents");
	if (!a.good)
		rc = report_refusal(a.value, NULL);
	else if (cli->json)
		json_pretty_print(rows, true);
	else
		print_notebooks(rows);
	if (a.good && json_length(rows) == 0 && !cli->quiet)
		message_print("there are no notebooks");
	tool_result_fini(&a);
	return rc;
}

static int list_notebooks(const struct cli *cli, struct client *c, int n,
			  const char *const *arg)
{
	(void)n, (void)arg;
	return notebook_list(cli, c);
}

/* ---- the end of a notebook ---- */

static int end_notebook(const struct cli *cli, struct client *c, int n,
			const char *const *arg)
{
	struct tool_result a;
	int rc =
	    client_method(c, "paddock/endResident",
			  json_pack("templateId:s name:s requestor?s",
				    flags.template, arg[0], flags.requestor),
			  &a);

	(void)n;
	if (rc != 0)
		return rc;
	if (!a.good)
		rc = report_refusal(a.value, arg[0]);
	else if (!cli->quiet)
		message_print("the notebook \"%s\" of %s is ended, with all "
			      "its variables and files",
			      arg[0], flags.template);
	tool_result_fini(&a);
	return rc;
}

const struct command cmd_notebook_ls = {
    .name = "notebook ls",
    .args = "",
    .summary = "notebooks whose variables are kept",
    .call = list_notebooks,
};

const struct command cmd_notebook_rm = {
    .name = "notebook rm",
    .args = "NOTEBOOK",
    .summary = "end a notebook, with its variables and files",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = 1,
    .call = end_notebook,
};
