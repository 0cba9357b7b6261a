/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - definitions that all subcommands of paddock share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/terminal/opt.h"

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,	    /* the run, a test or a check failed */
	CLI_USAGE = 2,	    /* the caller's fault: words, files, inputs */
	CLI_PARTIAL = 3,    /* the run is a partial success */
	CLI_ABSENT = 4,	    /* the named thing does not exist */
	CLI_TIMEOUT = 124,  /* the run took longer than allowed */
	CLI_TROUBLE = 125,  /* no server, refused, paddock's own failure */
	CLI_SIGNALED = 128, /* plus the signal's number: 130 for ctrl-C */
	CLI_CANCELED = 130,
};

struct client;
struct command;

/* The values of the flags of all subcommands. */
struct cli {
	bool json, quiet, verbose, help;
	const char *socket;    /* NULL: the usual daemon, or a private server */
	const char *state_dir; /* as config, templates: private server only */
	const char *config;
	struct opt_list templates;
	/* private server only: [TEMPLATE:]KEY=VALUE */
	struct opt_list grants;
	const struct command *const *commands; /* n_commands commands */
	size_t n_commands;
};

struct command {
	const char *name; /* a word, or two: "artifact ls" */
	const char *args; /* the operands, as shown by help */
	const char *summary;
	const char *text; /* more for help; may be NULL */
	const struct opt *opts;
	size_t n_opts;
	int min, max; /* number of operands; max -1: any number */
	bool hidden;  /* not in help */
	int (*run)(const struct cli *cli, int n, const char *const *arg);
	/* in place of run: is given a connection, which the caller closes */
	int (*call)(const struct cli *cli, struct client *c, int n,
		    const char *const *arg);
};

/*
 * Return the command whose name is the first words of ARGV; *WORDS is how many.
 * NULL: no such command.
 */
const struct command *command_find(const struct cli *cli, int argc,
				   const char *const *argv, int *words);
/* Return the name, or first word of a name, nearest to WORD; or NULL. */
const char *command_near(const struct cli *cli, const char *word);

/* Is WORD the first word of commands of two words, as "template" is? */
bool command_is_group(const struct cli *cli, const char *word);

/* Print on TO a line on each command of group WORD; false: no commands. */
bool help_group(const struct cli *cli, const char *word, FILE *to);
/* Print help on stdout, on CMD or on all commands. */
void help_command(const struct cli *cli, const struct command *cmd);
void help_all(const struct cli *cli);

/* The values given on the command line, and the flags that fill them in. */
#define CLI_FLAGS 8
extern struct cli cli_given;
extern const struct opt cli_flags[CLI_FLAGS];

extern const struct command cmd_artifact_cat, cmd_artifact_get,
    cmd_artifact_put, cmd_artifact_ls, cmd_artifact_rm, cmd_cancel,
    cmd_client_config, cmd_complete, cmd_doctor, cmd_explain, cmd_grant_ls,
    cmd_grant_show, cmd_grant_approve, cmd_grant_reject, cmd_help, cmd_logs,
    cmd_notebook_ls, cmd_notebook_rm, cmd_prune, cmd_ps, cmd_reload, cmd_repl,
    cmd_retry, cmd_rm, cmd_run, cmd_schema, cmd_search, cmd_selftest,
    cmd_status, cmd_template_build, cmd_template_check, cmd_template_grant,
    cmd_template_learn, cmd_template_ls, cmd_template_new, cmd_template_show,
    cmd_template_test, cmd_token, cmd_usage, cmd_wait, cmd_result;

#endif
