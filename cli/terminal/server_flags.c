/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_flags.c - flags for hints, which are commands to be copied: a run of a
 * private server is only found with the flags that the server was started with.
 * report.c, explain.c and remedy.c use them.
 */
#include "cli/terminal/server_flags.h"

#include <string.h>

#include "base/buf.h"

static const struct cli *told;
static char *flags; /* made by the first call of server_flags() */

bool server_flags_is_plain(const char *word)
{
	return word[0] != '\0' &&
	       word[strspn(word, SERVER_FLAGS_PLAIN)] == '\0';
}

/* Append FLAG and VALUE, in single quotes if a shell would change it. */
static void add_flag(struct buf *b, const char *flag, const char *value)
{
	bool plain = value != NULL && server_flags_is_plain(value);

	if (value == NULL)
		return;
	buf_add_str(b, flag);
	buf_add_str(b, plain ? " " : " '");
	for (; *value != '\0'; value++) {
		if (*value == '\'' && !plain)
			buf_add_str(b, "'\\'");
		buf_add(b, value, 1);
	}
	buf_add_str(b, plain ? "" : "'");
}

char *server_flags_for_run(const struct cli *cli, const char *run)
{
	struct buf b = {0};

	buf_add_str(&b, run);
	add_flag(&b, " --socket", cli->socket);
	add_flag(&b, " --state-dir", cli->state_dir);
	add_flag(&b, " --config", cli->config);
	for (size_t i = 0; i < cli->templates.n; i++)
		add_flag(&b, " --templates", cli->templates.item[i]);
	return buf_take(&b, NULL);
}

void server_flags_set(const struct cli *cli)
{
	told = cli;
}

const char *server_flags(void)
{
	if (flags == NULL && told != NULL)
		flags = server_flags_for_run(told, "");
	return flags != NULL ? flags : "";
}
