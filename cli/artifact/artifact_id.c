/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_id.c - finds the whole id of an artifact from the beginning of the
 * id, for commands of main.c's table with artifacts as operands. If several
 * artifacts fit, a message asks for more of the id; if none does, the server
 * refuses.
 */
#include "cli/artifact/artifact_id.h"

#include "base/mem.h"
#include "cli/client/report.h"
#include "cli/client/run_id.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

int artifact_id_find(const struct cli *cli, struct client *c, const char *given,
		     char **id)
{
	char *prefix = run_id_beginning(given, "art_");
	struct tool_result a = {0};
	struct json_object *found;
	int rc;

	(void)cli;
	if (prefix == NULL) {
		*id = xstrdup(given);
		return 0;
	}
	rc = client_method(c, "paddock/artifacts",
			   json_pack("idPrefix:s", prefix), &a);
	if (rc == 0 && !a.good)
		rc = report_refusal(a.value, NULL);
	found = json_member(a.value, "artifacts");
	if (rc == 0 && json_length(found) > 1)
		rc = message_fail(
		    CLI_USAGE,
		    "several of your artifacts begin with \"%s\"; say more of "
		    "the id (paddock artifact ls%s has them)",
		    given, server_flags());
	else if (rc == 0)
		*id = xstrdup(
		    json_length(found) == 0
			? given
			: json_member_str(json_object_array_get_idx(found, 0),
					  "artifactId"));
	tool_result_fini(&a);
	free(prefix);
	return rc;
}
