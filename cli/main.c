/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - paddock: the table of subcommands, the flags of all commands, and
 * the choice of the command. A wrong word or flag ends with CLI_USAGE and a
 * near one as a hint; otherwise the command's status is the process's.
 */
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/client/client.h"
#include "cli/artifact/artifact_id.h"
#include "cli/client/run_id.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/server_flags.h"

static const struct command *const commands[] = {
    &cmd_run,
    &cmd_ps,
    &cmd_status,
    &cmd_wait,
    &cmd_result,
    &cmd_logs,
    &cmd_explain,
    &cmd_cancel,
    &cmd_retry,
    &cmd_rm,
    &cmd_prune,
    &cmd_usage,
    &cmd_repl,
    &cmd_notebook_ls,
    &cmd_notebook_rm,
    &cmd_artifact_ls,
    &cmd_artifact_get,
    &cmd_artifact_put,
    &cmd_artifact_rm,
    &cmd_artifact_cat,
    &cmd_search,
    &cmd_template_ls,
    &cmd_template_show,
    &cmd_template_check,
    &cmd_template_test,
    &cmd_template_new,
    &cmd_template_build,
    &cmd_template_grant,
    &cmd_template_learn,
    &cmd_grant_ls,
    &cmd_grant_show,
    &cmd_grant_approve,
    &cmd_grant_reject,
    &cmd_schema,
    &cmd_token,
    &cmd_client_config,
    &cmd_reload,
    &cmd_doctor,
    &cmd_selftest,
    &cmd_help,
    &cmd_complete,
};

static int usage_error(const char *errmsg, const struct command *cmd)
{
	message_print("%s", errmsg);
	if (cmd != NULL)
		message_more("  hint: paddock help %s", cmd->name);
	else
		message_more("  hint: paddock help");
	return CLI_USAGE;
}

/*
 * Refuse WORD, the first word of commands of two words ("template"), without a
 * known SECOND ("template shw").
 */
static int no_subcommand(const struct cli *cli, const char *word,
			 const char *second)
{
	char both[128];
	const char *suggest;

	snprintf(both, sizeof(both), "%.64s%s%.60s", word,
		 second != NULL ? " " : "", second != NULL ? second : "");
	suggest = second != NULL ? command_near(cli, both) : NULL;
	if (suggest != NULL && strchr(suggest, ' ') != NULL)
		message_print(
		    "there is no command \"%s\"; did you mean \"%s\"?", both,
		    suggest);
	else if (second != NULL)
		message_print("there is no command \"%s\"", both);
	else
		message_print("say what to do: paddock %s COMMAND", word);
	help_group(cli, word, stderr);
	return CLI_USAGE;
}

static int no_command(const struct cli *cli, int argc, char **argv)
{
	const char *word = argv[0], *suggest = command_near(cli, word);
	char errmsg[256];

	if (command_is_group(cli, word))
		return no_subcommand(
		    cli, word, argc > 1 && argv[1][0] != '-' ? argv[1] : NULL);
	if (word[0] == '-')
		snprintf(errmsg, sizeof(errmsg),
			 "\"%.64s\" came before a command, and is no flag of "
			 "all commands; others follow theirs: paddock run "
			 "TEMPLATE --timeout 5s",
			 word);
	else if (suggest != NULL)
		snprintf(errmsg, sizeof(errmsg),
			 "there is no command \"%.64s\"; did you mean \"%s\"?",
			 word, suggest);
	else
		snprintf(errmsg, sizeof(errmsg),
			 "there is no command \"%.64s\"", word);
	return usage_error(errmsg, NULL);
}

/*
 * Complete GIVEN to a whole id in *ID, of the kind that ARGS, the operands of a
 * command, name. 0 or an exit status.
 */
static int find_id(const struct cli *cli, const char *args, struct client *c,
		   const char *given, char **id)
{
	bool artifact = strncmp(args, "ARTIFACT", 8) == 0;
	bool run = strstr(args, "RUN") != NULL;
	int rc;

	if (artifact && (!run || strncmp(given, "art_", 4) == 0))
		return artifact_id_find(cli, c, given, id);
	rc = run_id_find(cli, c, given, id);
	if (rc != 0 || !artifact || strcmp(*id, given) != 0)
		return rc;
	free(*id);
	*id = NULL;
	return artifact_id_find(cli, c, given, id);
}

/*
 * Call CMD with whole ids: its first operand, or every operand, names a run or
 * an artifact.
 */
static int with_ids(const struct cli *cli, const struct command *cmd,
		    struct client *c, int n, const char *const *arg)
{
	char **ids = xcalloc((size_t)n, sizeof(*ids));
	int named = cmd->max < 0 || n == 0 ? n : 1, rc = 0;

	for (int i = 0; rc == 0 && i < named; i++)
		rc = find_id(cli, cmd->args, c, arg[i], &ids[i]);
	for (int i = named; i < n; i++)
		ids[i] = xstrdup(arg[i]);
	if (rc == 0)
		rc = cmd->call(cli, c, n, (const char *const *)ids);
	for (int i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
	return rc;
}

static int call_command(const struct cli *cli, const struct command *cmd,
			const struct opt_list *operands)
{
	int n = (int)operands->n, rc;
	struct client *c;

	if (cli->help) {
		help_command(cli, cmd);
		return CLI_OK;
	}
	if (n < cmd->min || (cmd->max >= 0 && n > cmd->max)) {
		message_more("usage: paddock %s%s%s", cmd->name,
			     cmd->args[0] != '\0' ? " " : "", cmd->args);
		message_more("  hint: paddock help %s", cmd->name);
		return CLI_USAGE;
	}
	if (cmd->run != NULL)
		return cmd->run(cli, n, operands->item);
	c = client_open(cli);
	if (c == NULL)
		rc = client_trouble();
	else if (strstr(cmd->args, "RUN") != NULL ||
		 strstr(cmd->args, "ARTIFACT") != NULL)
		rc = with_ids(cli, cmd, c, n, operands->item);
	else
		rc = cmd->call(cli, c, n, operands->item);
	client_close(c);
	return rc;
}

/*
 * Return how many words before the command are flags, of all commands, with
 * their values.
 */
static int leading_flags(int argc, const char *const *words)
{
	int n = 0;

	while (n < argc && words[n][0] == '-') {
		bool alone = true;
		size_t i = 0;

		while (i < CLI_FLAGS &&
		       !opt_is(&cli_flags[i], words[n], &alone))
			i++;
		if (i == CLI_FLAGS)
			break;
		n += alone ? 1 : 2;
	}
	return n < argc ? n : argc;
}

static int dispatch(struct cli *cli, int argc, char **argv)
{
	const char **words = (const char **)argv;
	int lead = leading_flags(argc, words), skip, rc;
	struct opt_list operands = {0};
	const struct command *cmd;
	char errmsg[256];

	if (lead == argc)
		return usage_error("say what to do: paddock COMMAND", NULL);
	cmd = command_find(cli, argc - lead, words + lead, &skip);
	if (cmd == NULL)
		return no_command(cli, argc - lead, argv + lead);
	/* move the flags behind the command's words, to be parsed there */
	memmove(words + skip, words, (size_t)lead * sizeof(*words));
	rc = opt_parse((struct opt_set[]){{cmd->opts, cmd->n_opts},
					  {cli_flags, CLI_FLAGS}},
		       2, &operands, argc - skip, words + skip, errmsg,
		       sizeof(errmsg));
	server_flags_set(cli);
	rc = rc < 0 ? usage_error(errmsg, cmd)
		    : call_command(cli, cmd, &operands);
	opt_list_free(&operands);
	opt_list_free(&cli->templates);
	return rc;
}

/*
 * Has the reader of stdout left, as head(1) after the first line? Such a reader
 * needs no message.
 */
static bool reader_left(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0;
}

int main(int argc, char **argv)
{
	int rc;

	cli_given.commands = commands;
	cli_given.n_commands = ARRAY_LEN(commands);
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		message_print("say what to do: paddock COMMAND");
		message_more("  hint: paddock help");
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("paddock " PADDOCK_VERSION);
		rc = CLI_OK;
	} else if (strcmp(argv[1], "--help") == 0 ||
		   strcmp(argv[1], "-h") == 0) {
		help_all(&cli_given);
		rc = CLI_OK;
	} else {
		rc = dispatch(&cli_given, argc - 1, argv + 1);
	}
	if ((fflush(stdout) != 0 || ferror(stdout)) && !reader_left()) {
		message_print(
		    "stdout cannot be written to, so what was to be shown there "
		    "is not whole");
		if (rc == CLI_OK || rc == CLI_PARTIAL)
			rc = CLI_TROUBLE;
	}
	return rc;
}
