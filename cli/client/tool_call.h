/* SPDX-License-Identifier: Apache-2.0 */
/* tool_call.h - one tool call, for subcommands that do little else. */
#ifndef CLI_TOOL_CALL_H
#define CLI_TOOL_CALL_H

#include "cli/client/client.h"

/*
 * Call TOOL; takes ARGS. 0 and the value in *OUT, which the caller owns; or the
 * exit status, the reason printed.
 */
int tool_call(const struct cli *cli, struct client *c, const char *tool,
	      struct json_object *args, struct json_object **out);

/* Call get_task_run for the view of RUN, as tool_call() does. */
int tool_call_run(const struct cli *cli, struct client *c, const char *run,
		  struct json_object **out);

int tool_call_profile(const struct cli *cli, struct client *c,
		      struct json_object **out);

/*
 * Does PROFILE say that the server takes runs? True also without "health",
 * which a server of another version may not send.
 */
bool tool_call_is_ready(struct json_object *profile);

/*
 * Open a tab, look at the profile until the browser's sandbox is measured (up
 * to 3 seconds), then close the tab. *PROFILE is the last profile; *REFUSAL
 * says why there is no tab. The caller owns both; either may be NULL. 0 or an
 * exit status.
 */
int tool_call_tab(const struct cli *cli, struct client *c,
		  struct json_object **profile, struct json_object **refusal);

/* Call list_task_templates for the whole list, in as many calls as needed. */
int tool_call_templates(const struct cli *cli, struct client *c,
			struct json_object **out);

#endif
