/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.c - "paddock complete", which the shells' completions call; see
 * etc/completion. Each line of output is a candidate, or "@files" or "@dirs"
 * for the shell to expand; a description may follow after a tab. The command
 * never waits long for a server and starts one only to look at templates,
 * inputs, runs or artifacts. Without an answer nothing is offered.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/complete_server.h"
#include "cli/repl/language.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"

#define ABOUT_COLUMNS 60
#define FILES "@files"
#define DIRS "@dirs"

/*
 * A candidate has only these characters: names with a blank or "$(", as an
 * artifact may have, would act in the user's shell.
 */
#define PLAIN SERVER_FLAGS_PLAIN "%="

void complete_offer_about(const struct complete_words *w, const char *word,
			  size_t len, const char *about)
{
	if (strncmp(word, w->last, strlen(w->last)) != 0 ||
	    strlen(w->last) > len || len == 0 || strspn(word, PLAIN) < len)
		return;
	safe_printf("%s%.*s", w->prefix, (int)len, word);
	if (about != NULL) {
		putchar('\t');
		safe_print_cut(about, 0, ABOUT_COLUMNS);
	}
	putchar('\n');
}

void complete_offer(const struct complete_words *w, const char *word)
{
	complete_offer_about(w, word, strlen(word), NULL);
}

/* ---- commands and flags ---- */

static void offer_commands(const struct complete_words *w)
{
	const struct cli *cli = w->cli;
	const char *before = "";

	for (size_t i = 0; i < cli->n_commands; i++) {
		const char *name = cli->commands[i]->name;
		size_t len = strcspn(name, " ");

		if (cli->commands[i]->hidden ||
		    (strlen(before) >= len && strncmp(before, name, len) == 0))
			continue;
		complete_offer_about(
		    w, name, len,
		    name[len] == '\0' ? cli->commands[i]->summary : NULL);
		before = name;
	}
}

static void offer_seconds(const struct complete_words *w, const char *first)
{
	for (size_t i = 0; i < w->cli->n_commands; i++) {
		const char *name = w->cli->commands[i]->name;
		size_t len = strcspn(name, " ");

		if (name[len] == ' ' && strlen(first) == len &&
		    strncmp(name, first, len) == 0)
			complete_offer_about(w, name + len + 1,
					     strlen(name + len + 1),
					     w->cli->commands[i]->summary);
	}
}

static void offer_flags(const struct command *cmd,
			const struct complete_words *w)
{
	char word[64];

	for (size_t i = 0; i < cmd->n_opts + CLI_FLAGS; i++) {
		const struct opt *o = i < cmd->n_opts
					  ? &cmd->opts[i]
					  : &cli_flags[i - cmd->n_opts];

		snprintf(word, sizeof(word), "--%s", o->name);
		complete_offer_about(w, word, strlen(word), o->help);
	}
}

/* ---- files ---- */

/* Return where the file begins in "key=@FILE" or "key=@@FILE", or NULL. */
static const char *file_of_input(const char *typed)
{
	const char *at = strchr(typed, '=');

	if (at == NULL || at[1] != '@')
		return NULL;
	return at + 2 + (at[2] == '@');
}

/*
 * Offer the files of PATH's folder, each as the last word with the file's name
 * filled in.
 */
static void offer_files_of_input(const struct complete_words *w,
				 const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t in = slash != NULL ? (size_t)(slash - path) + 1 : 0;
	char *folder = in > 0 ? xstrndup(path, in) : xstrdup(".");
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char *word =
		    xasprintf("%.*s%s%s", (int)(path + in - w->last), w->last,
			      e->d_name, e->d_type == DT_DIR ? "/" : "");

		if (e->d_name[0] != '.')
			complete_offer(w, word);
		free(word);
	}
	if (d != NULL)
		closedir(d);
	free(folder);
}

/* ---- values and operands ---- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Offer values for the flag O, by O->arg. BEFORE is CMD's last operand. */
static void offer_value(const struct command *cmd,
			const struct complete_words *w, const struct opt *o,
			const char *before)
{
	const char *const *may = opt_values(o);

	for (; may != NULL && *may != NULL; may++)
		complete_offer(w, *may);
	if (strcmp(o->name, "set") == 0 && file_of_input(w->last) != NULL)
		offer_files_of_input(w, file_of_input(w->last));
	else if (strcmp(o->name, "set") == 0 && before[0] != '\0')
		(begins(cmd->args, "RUN") ? complete_inputs_of_run
					  : complete_inputs)(w, before);
	else if (strcmp(o->arg, "TEMPLATE") == 0)
		complete_templates(w);
	else if (strcmp(o->arg, "NOTEBOOK") == 0)
		complete_notebooks(w);
	else if (strcmp(o->arg, "DIR") == 0)
		safe_printf("%s\n", DIRS);
	else if (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "PATH") == 0)
		safe_printf("%s\n", FILES);
}

static void offer_languages(const struct complete_words *w)
{
	const char *name;

	for (size_t i = 0; (name = language_name(i)) != NULL; i++)
		complete_offer(w, name);
}

/* Offer the operand NUMBER, from 0. BEFORE is the operand ahead of it. */
static void offer_operand(const struct command *cmd,
			  const struct complete_words *w, int number,
			  const char *before)
{
	const char *args =
	    cmd->args + strspn(cmd->args, "["); /* optional: in brackets */

	if (strstr(args, ".json") != NULL || begins(args, "FILE"))
		safe_printf("%s\n", FILES);
	else if (cmd->max >= 0 && number >= cmd->max)
		return;
	else if (number == 1 && begins(args, "ARTIFACT"))
		complete_artifacts(w, before);
	else if (begins(args, "ARTIFACT") &&
		 (cmd->max < 0 || begins(w->last, "art_")))
		complete_artifact_ids(w, cmd->max >= 0);
	else if (begins(args, "RUN") || begins(args, "ARTIFACT"))
		complete_runs(cmd, w);
	else if (begins(args, "TEMPLATE"))
		complete_templates(w);
	else if (begins(args, "NOTEBOOK"))
		complete_notebooks(w);
	else if (begins(args, "LANGUAGE"))
		offer_languages(w);
	else if (strstr(args, "DIR") != NULL)
		safe_printf("%s\n", DIRS);
	else if (begins(args, "COMMAND") && number == 0)
		offer_commands(w);
	else if (begins(args, "COMMAND"))
		offer_seconds(w, before);
}

/* ---- the words before the last ---- */

static const struct opt *find_opt(const struct command *cmd, const char *word)
{
	for (size_t i = 0; i < cmd->n_opts + CLI_FLAGS; i++) {
		const struct opt *o = i < cmd->n_opts
					  ? &cmd->opts[i]
					  : &cli_flags[i - cmd->n_opts];
		size_t n = strlen(o->name);

		if (word[0] == '-' && word[1] != '-'
			? o->letter != 0 && word[1] == o->letter &&
			      word[2] == '\0'
			: begins(word, "--") && begins(word + 2, o->name) &&
			      (word[2 + n] == '\0' || word[2 + n] == '='))
			return o;
	}
	return NULL;
}

static void note_option(struct complete_words *w, const struct opt *o,
			const char *value)
{
	if (strcmp(o->name, "socket") == 0)
		w->seen.socket = value;
	else if (strcmp(o->name, "config") == 0)
		w->seen.config = value;
	else if (strcmp(o->name, "state-dir") == 0)
		w->seen.state_dir = value;
	else if (strcmp(o->name, "templates") == 0)
		opt_list_add(&w->seen.templates, value);
}

/* The words after the command's name. */
struct line {
	const struct opt *open; /* the flag whose value comes next, or NULL */
	const char *before;	/* the last operand */
	int operands;
};

static void parse_command_line(struct complete_words *w,
			       const struct command *cmd, int words,
			       struct line *l)
{
	for (int i = words; i < w->n; i++) {
		const char *word = w->word[i], *at = strchr(word, '=');
		const struct opt *o = find_opt(cmd, word);
		bool takes = o != NULL && o->kind != OPT_FLAG;

		if (l->open != NULL) {
			note_option(w, l->open, word);
			l->open = NULL;
		} else if (takes && at == NULL) {
			l->open = o;
		} else if (takes) {
			note_option(w, o, at + 1);
		} else if (word[0] != '-') {
			l->operands++;
			l->before = word;
		}
	}
}

/*
 * If the last word is a flag with part of its value, "--status=r", make the
 * value the word to complete. Returns the flag, or NULL.
 */
static const struct opt *open_within(struct complete_words *w,
				     const struct command *cmd)
{
	const char *equals = strchr(w->last, '=');
	const struct opt *o;

	if (equals == NULL || !begins(w->last, "--"))
		return NULL;
	o = find_opt(cmd, w->last);
	if (o == NULL || o->kind == OPT_FLAG)
		return NULL;
	snprintf(w->prefix, sizeof(w->prefix), "%.*s",
		 (int)(equals + 1 - w->last), w->last);
	w->last = equals + 1;
	return o;
}

static int complete(const struct cli *cli, int n, const char *const *arg)
{
	struct complete_words w = {
	    .cli = cli, .word = arg, .n = n - 1, .last = arg[n - 1]};
	struct line l = {.before = ""};
	const struct command *cmd;
	int words;

	alarm(COMPLETE_PATIENCE_S);
	if (freopen("/dev/null", "w", stderr) == NULL)
		return CLI_TROUBLE; /* no message: the user is typing */
	cmd = command_find(cli, w.n, arg, &words);
	if (w.n > 0 && cmd != NULL) {
		parse_command_line(&w, cmd, words, &l);
		if (l.open == NULL)
			l.open = open_within(&w, cmd);
	}
	if (w.n == 0)
		offer_commands(&w);
	else if (cmd == NULL && w.n == 1)
		offer_seconds(&w, arg[0]);
	else if (cmd != NULL && l.open != NULL)
		offer_value(cmd, &w, l.open, l.before);
	else if (cmd != NULL && w.last[0] == '-')
		offer_flags(cmd, &w);
	else if (cmd != NULL)
		offer_operand(cmd, &w, l.operands, l.before);
	opt_list_free(&w.seen.templates);
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
