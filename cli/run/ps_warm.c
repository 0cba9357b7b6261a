/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ps_warm.c - "paddock ps --warm": prints the workers that wait for runs, by
 * template, as a table or JSON. ps.c calls it; ps_rows.c handles failures.
 * Without such workers a line on stderr says so.
 */
#include "cli/run/ps_warm.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/run/ps_rows.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

static const struct table_column columns[] = {
    {"TEMPLATE", TABLE_CUT, 0},	  {"VERSION", TABLE_CUT, 4},
    {"WAITING", TABLE_NUMBER, 0}, {"HITS", TABLE_NUMBER, 1},
    {"MISSES", TABLE_NUMBER, 2},  {"REPLACED", TABLE_NUMBER, 3}};

/* Lua templates with the same limits share a row, without templateId. */
static void print_warm(struct json_object *rows)
{
	static const char *const counts[] = {"waiting", "hits", "misses",
					     "replaced"};
	struct table *t = table_new(columns, ARRAY_LEN(columns));

	json_each(row, rows) {
		const char *id = json_member_str(row, "templateId");
		const char *version = json_member_str(row, "version");
		char n[ARRAY_LEN(counts)][24];

		for (size_t i = 0; i < ARRAY_LEN(counts); i++)
			snprintf(n[i], sizeof(n[i]), "%" PRId64,
				 json_member_int(row, counts[i]));
		table_add(t,
			  (const char *const[]){id != NULL ? id : "any of Lua",
						version != NULL ? version : "-",
						n[0], n[1], n[2], n[3]});
	}
	table_print(t);
}

int ps_warm(const struct cli *cli, struct client *c)
{
	size_t n = 0;
	int rc = ps_rows(cli, c, "paddock/waiting", "workers", print_warm, &n);

	if (rc == 0 && n == 0 && !cli->quiet)
		message_print("no worker waits: one does once a template was "
			      "used, in a server that goes on");
	return rc;
}
