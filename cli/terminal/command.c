/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c - finds a subcommand by its words, and prints help from the tables
 * of flags. main.c and complete.c call it. An unknown command is NULL; main.c
 * then names a near command.
 */
#include "cli/terminal/cli.h"
#include "cli/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/suggest.h"

struct cli cli_given;

const struct opt cli_flags[CLI_FLAGS] = {
    {"json", 0, OPT_FLAG, &cli_given.json, NULL, "JSON on one line on stdout"},
    {"quiet", 'q', OPT_FLAG, &cli_given.quiet, NULL, "no progress"},
    {"verbose", 'v', OPT_FLAG, &cli_given.verbose, NULL,
     "show what a private server logs"},
    {"socket", 0, OPT_TEXT, &cli_given.socket, "PATH",
     "of the daemon, instead of PADDOCK_SOCKET or the usual one"},
    {"templates", 0, OPT_LIST, &cli_given.templates, "DIR",
     "use a private server with these templates (repeatable)"},
    {"state-dir", 0, OPT_TEXT, &cli_given.state_dir, "DIR",
     "use a private server that keeps runs there"},
    {"config", 0, OPT_TEXT, &cli_given.config, "FILE",
     "use a private server with this configuration"},
    {"help", 'h', OPT_FLAG, &cli_given.help, NULL, "help on the command"},
};

static size_t first_word(const char *name)
{
	return strcspn(name, " ");
}

static bool is_either(const char *name, const char *a, const char *b)
{
	size_t n = first_word(name);

	if (strlen(a) != n || memcmp(name, a, n) != 0)
		return false;
	if (name[n] == '\0')
		return true;
	return b != NULL && strcmp(name + n + 1, b) == 0;
}

const struct command *command_find(const struct cli *cli, int argc,
				   const char *const *argv, int *words)
{
	const char *second = argc > 1 ? argv[1] : NULL;

	for (size_t i = 0; argc > 0 && i < cli->n_commands; i++) {
		const char *name = cli->commands[i]->name;

		if (!is_either(name, argv[0], second))
			continue;
		*words = name[first_word(name)] == '\0' ? 1 : 2;
		return cli->commands[i];
	}
	return NULL;
}

const char *command_near(const struct cli *cli, const char *word)
{
	static char first[SUGGEST_WORD_MAX];
	struct suggest suggest;

	suggest_init(&suggest, word);
	for (size_t i = 0; i < cli->n_commands; i++) {
		const struct command *c = cli->commands[i];
		char head[SUGGEST_WORD_MAX];
		unsigned before = suggest.cost;

		if (c->hidden)
			continue;
		suggest_try(&suggest, c->name);
		snprintf(head, sizeof(head), "%.*s", (int)first_word(c->name),
			 c->name);
		suggest_try(&suggest, head);
		if (suggest.cost < before && suggest.best == head) {
			memcpy(first, head, sizeof(first));
			suggest.best = first;
		}
	}
	return suggest.best;
}

/* ---- help ---- */

#define HELP_COLUMN 30

static void show_opt(const struct opt *o)
{
	char left[64];
	int n = snprintf(
	    left, sizeof(left), "  %c%c%s --%s%s%s", o->letter != 0 ? '-' : ' ',
	    o->letter != 0 ? o->letter : ' ', o->letter != 0 ? "," : " ",
	    o->name, o->arg != NULL ? " " : "", o->arg != NULL ? o->arg : "");

	if (n >= HELP_COLUMN)
		safe_printf("%s\n%*s", left, HELP_COLUMN, "");
	else
		safe_printf("%-*s", HELP_COLUMN, left);
	text_wrap_print(o->help, HELP_COLUMN, HELP_COLUMN,
			text_wrap_columns(STDOUT_FILENO));
}

#define TEXT_COLUMNS 80 /* the width that our texts are broken for */

/* Print TEXT, folded again paragraph by paragraph if the terminal is narrow. */
static void show_text(const char *text)
{
	size_t columns = text_wrap_columns(STDOUT_FILENO);

	while (columns < TEXT_COLUMNS && *text != '\0') {
		const char *end = strstr(text, "\n\n");
		size_t n = end != NULL ? (size_t)(end - text) : strlen(text);
		char *paragraph = xstrndup(text, n);

		for (char *p = paragraph; (p = strchr(p, '\n')) != NULL;)
			*p = p[1] != '\0' ? ' ' : '\0';
		text_wrap_print(paragraph, 0, 0, columns);
		free(paragraph);
		text += n;
		if (end != NULL)
			puts(""), text += 2;
	}
	fputs(text, stdout);
}

void help_command(const struct cli *cli, const struct command *cmd)
{
	struct buf b = {0};

	(void)cli;
	safe_printf("usage: paddock %s%s%s [FLAG]...\n\n", cmd->name,
		    cmd->args[0] != '\0' ? " " : "", cmd->args);
	text_wrap_print(cmd->summary, 0, 0, text_wrap_columns(STDOUT_FILENO));
	if (cmd->n_opts > 0)
		puts("");
	for (size_t i = 0; i < cmd->n_opts; i++)
		show_opt(&cmd->opts[i]);
	if (cmd->text != NULL)
		puts(""), show_text(cmd->text);
	puts("");
	/* the flags of all commands by name alone, to keep each help short */
	buf_add_str(&b, "Flags of every command, which \"paddock help\" "
			"explains:");
	for (size_t i = 0; i < CLI_FLAGS; i++)
		buf_printf(&b, " --%s%s", cli_flags[i].name,
			   i + 1 < CLI_FLAGS ? "," : "");
	buf_add(&b, "", 1);
	text_wrap_print(buf_data(&b), 0, 2, text_wrap_columns(STDOUT_FILENO));
	buf_fini(&b);
}

void help_all(const struct cli *cli)
{
	puts("usage: paddock COMMAND [FLAG]... [OPERAND]...\n");
	for (size_t i = 0; i < cli->n_commands; i++) {
		const struct command *c = cli->commands[i];

		if (c->hidden)
			continue;
		safe_printf("  %-18s ", c->name);
		text_wrap_print(c->summary, 21, 21,
				text_wrap_columns(STDOUT_FILENO));
	}
	puts("\nFlags of every command:");
	for (size_t i = 0; i < CLI_FLAGS; i++)
		show_opt(&cli_flags[i]);
	puts("\n\"paddock help COMMAND\" tells more; \"paddock --version\" the "
	     "version.\n"
	     "Results go to stdout, all else to stderr.");
}

bool command_is_group(const struct cli *cli, const char *word)
{
	for (size_t i = 0; i < cli->n_commands; i++) {
		const char *name = cli->commands[i]->name;
		size_t n = first_word(name);

		if (name[n] != '\0' && strlen(word) == n &&
		    memcmp(name, word, n) == 0)
			return true;
	}
	return false;
}

bool help_group(const struct cli *cli, const char *word, FILE *to)
{
	bool found = false;

	for (size_t i = 0; i < cli->n_commands; i++) {
		const struct command *c = cli->commands[i];
		size_t n = first_word(c->name);

		if (c->hidden || strlen(word) != n ||
		    memcmp(c->name, word, n) != 0)
			continue;
		safe_fprintf(to, "  %-18s %s\n", c->name, c->summary);
		found = true;
	}
	return found;
}

static int help(const struct cli *cli, int n, const char *const *arg)
{
	const struct command *cmd;
	int words;

	if (n == 0) {
		help_all(cli);
		return CLI_OK;
	}
	cmd = command_find(cli, n, arg, &words);
	if (cmd != NULL) {
		help_command(cli, cmd);
		return CLI_OK;
	}
	if (help_group(cli, arg[0], stdout))
		return CLI_OK;
	safe_fprintf(stderr, "paddock: there is no command \"%s\"\n", arg[0]);
	return CLI_USAGE;
}

const struct command cmd_help = {
    .name = "help",
    .args = "[COMMAND]",
    .summary = "what the commands do",
    .max = 2,
    .run = help,
};
