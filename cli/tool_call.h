/* SPDX-License-Identifier: Apache-2.0 */
/* tool_call.h - one tool call, for subcommands that do little else. */
#ifndef CLI_TOOL_CALL_H
#define CLI_TOOL_CALL_H

#include "cli/client.h"

/*
 * Call TOOL; ARGS is taken. 0 and the value in *OUT, which the caller owns; or
 * the exit status, and it has been said why.
 */
int tool_call(const struct cli *cli, struct client *c, const char *tool,
	      struct json_object *args, struct json_object **out);

/* The same for get_task_run: the view of RUN. */
int tool_call_run(const struct cli *cli, struct client *c, const char *run,
		  struct json_object **out);

int tool_call_profile(const struct cli *cli, struct client *c,
		      struct json_object **out);

/* Does PROFILE say that runs are taken? A server of another version may not. */
bool tool_call_is_ready(struct json_object *profile);

/*
 * Open a tab, and look at the profile until the browser's sandbox is measured,
 * which takes a moment; then close it. What was seen last in *PROFILE; or why
 * there is no tab in *REFUSAL. The caller's, each NULL where it is not so.
 */
int tool_call_tab(const struct cli *cli, struct client *c,
		  struct json_object **profile, struct json_object **refusal);

/* All that list_task_templates lists, in as many answers as it takes. */
int tool_call_templates(const struct cli *cli, struct client *c,
			struct json_object **out);

#endif
