/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ps_rows.c - asks the server for rows by a method of ours and prints them, for
 * ps_nodes.c and ps_warm.c. When the server refuses or is lost, the status of
 * the call is returned.
 */
#include "cli/run/ps_rows.h"

#include "cli/terminal/json_io.h"
#include "cli/client/report.h"
#include "cli/client/tool_result.h"
#include "proto/json/json.h"

int ps_rows(const struct cli *cli, struct client *c, const char *method,
	    const char *member, void (*show)(struct json_object *rows),
	    size_t *n)
{
	struct tool_result a;
	struct json_object *rows;
	int rc = client_method(c, method, NULL, &a);

	if (rc != 0)
		return rc;
	rows = json_member(a.value, member);
	*n = json_length(rows);
	if (!a.good)
		rc = report_refusal(a.value, NULL);
	else if (cli->json)
		json_pretty_print(rows, true);
	else
		show(rows);
	tool_result_fini(&a);
	return rc;
}
