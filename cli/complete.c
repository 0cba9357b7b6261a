/* SPDX-License-Identifier: Apache-2.0 */
/* complete.c - what the shell's completion asks; see etc/completion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/ask.h"
#include "cli/check.h"
#include "cli/cli.h"
#include "cli/tell.h"
#include "proto/json.h"

/* Before the word to complete there are N; each candidate is a line. */
struct ask_words {
	const char *const *word;
	int n;
	const char *last; /* as far as it is typed */
};

static void offer(const struct ask_words *w, const char *word, size_t len)
{
	if (strncmp(word, w->last, strlen(w->last)) == 0)
		tell_out("%.*s\n", (int)len, word);
}

static void offer_commands(const struct cli *cli, const struct ask_words *w)
{
	const char *before = "";

	for (size_t i = 0; i < cli->n_commands; i++) {
		const char *name = cli->commands[i]->name;
		size_t len = strcspn(name, " ");

		if (cli->commands[i]->hidden ||
		    (strlen(before) >= len && strncmp(before, name, len) == 0))
			continue;
		offer(w, name, len);
		before = name;
	}
}

static void offer_seconds(const struct cli *cli, const struct ask_words *w)
{
	for (size_t i = 0; i < cli->n_commands; i++) {
		const char *name = cli->commands[i]->name;
		size_t len = strcspn(name, " ");

		if (name[len] == ' ' && strlen(w->word[0]) == len &&
		    strncmp(name, w->word[0], len) == 0)
			offer(w, name + len + 1, strlen(name + len + 1));
	}
}

static void offer_flags(const struct cli *cli, const struct command *cmd,
			const struct ask_words *w)
{
	struct cli copy = *cli;
	struct opt global[CLI_FLAGS];
	char word[64];

	cli_flags(global, &copy);
	for (size_t i = 0; i < cmd->n_opts + CLI_FLAGS; i++) {
		const struct opt *o = i < cmd->n_opts
					  ? &cmd->opts[i]
					  : &global[i - cmd->n_opts];

		snprintf(word, sizeof(word), "--%s", o->name);
		offer(w, word, strlen(word));
	}
}

/* Their names, from the packages themselves: no server is asked. */
static void offer_templates(const struct cli *cli, const struct ask_words *w)
{
	struct cli seen = {.config = cli->config};
	struct json_object *o, *list;

	for (int i = 0; i + 1 < w->n; i++)
		if (strcmp(w->word[i], "--templates") == 0)
			opt_list_add(&seen.templates, w->word[i + 1]);
	o = check_templates(&seen, NULL);
	list = json_member(o, "templates");
	for (size_t i = 0; o != NULL && i < json_object_array_length(list); i++) {
		const char *name = json_object_get_string(
		    json_object_array_get_idx(list, i));

		offer(w, name, strcspn(name, " "));
	}
	json_object_put(o);
	opt_list_free(&seen.templates);
}

static bool takes_template(const struct command *cmd)
{
	return strncmp(cmd->args, "TEMPLATE", strlen("TEMPLATE")) == 0;
}

static int complete(const struct cli *cli, int n, const char *const *arg)
{
	struct ask_words w = {.word = arg, .n = n - 1, .last = arg[n - 1]};
	const struct command *cmd;
	int words;

	cmd = command_find(cli, w.n, arg, &words);
	if (w.n == 0 || (w.n == 1 && strcmp(arg[0], "help") == 0))
		offer_commands(cli, &w);
	else if (cmd == NULL)
		offer_seconds(cli, &w);
	else if (w.last[0] == '-')
		offer_flags(cli, cmd, &w);
	else if (takes_template(cmd))
		offer_templates(cli, &w);
	return CLI_OK;
}

const struct command cmd_complete = {
    .name = "complete",
    .args = "-- WORD...",
    .summary = "candidates for the last word, for the shell's completion",
    .min = 1,
    .max = -1,
    .hidden = true,
    .run = complete,
};
