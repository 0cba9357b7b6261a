/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what every subcommand of paddock knows. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/opt.h"

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,	    /* the run failed; a test or a check did */
	CLI_USAGE = 2,	    /* the caller's fault: words, files, inputs */
	CLI_PARTIAL = 3,    /* the run is a partial success */
	CLI_ABSENT = 4,	    /* what was named is not there */
	CLI_TIMEOUT = 124,  /* the run took longer than it may */
	CLI_TROUBLE = 125,  /* no server, refused, paddock's own failure */
	CLI_SIGNALED = 128, /* and the signal's number: 130 for ctrl-C */
	CLI_CANCELED = 130,
};

struct client;
struct command;

/* The flags that go with every subcommand. */
struct cli {
	bool json, quiet, verbose, help;
	const char *socket;    /* NULL: the usual one, else a private server */
	const char *state_dir; /* these three: of the private server */
	const char *config;
	struct opt_list templates;
	/* of the private server: [TEMPLATE:]KEY=VALUE */
	struct opt_list grants;
	const struct command *const *commands; /* n_commands of them */
	size_t n_commands;
};

struct command {
	const char *name; /* one word, or two: "artifact ls" */
	const char *args; /* its operands, as help shows them */
	const char *summary;
	const char *text; /* more for help; may be NULL */
	const struct opt *opts;
	size_t n_opts;
	int min, max; /* operands; max -1: any number */
	bool hidden;  /* not in help */
	int (*run)(const struct cli *cli, int n, const char *const *arg);
	/* instead: with a connection to the server, which its caller closes */
	int (*call)(const struct cli *cli, struct client *c, int n,
		    const char *const *arg);
};

/* The one that ARGV begins with, *WORDS of it; NULL: none does. */
const struct command *command_find(const struct cli *cli, int argc,
				   const char *const *argv, int *words);
/* Of all names and first words the nearest to WORD; NULL: none is near. */
const char *command_near(const struct cli *cli, const char *word);

/* Does WORD begin commands of two words, as "template" does? */
bool command_is_group(const struct cli *cli, const char *word);

/* A line each on the commands that begin with WORD; false: there are none. */
bool help_group(const struct cli *cli, const char *word, FILE *to);
/* Help: of one command, or of all, on stdout. */
void help_command(const struct cli *cli, const struct command *cmd);
void help_all(const struct cli *cli);

/* What is given on the command line, and the flags that put it there. */
#define CLI_FLAGS 8
extern struct cli cli_given;
extern const struct opt cli_flags[CLI_FLAGS];

extern const struct command cmd_artifact_cat, cmd_artifact_get,
    cmd_artifact_put, cmd_artifact_ls, cmd_artifact_rm, cmd_cancel,
    cmd_client_config, cmd_complete, cmd_doctor, cmd_explain, cmd_help,
    cmd_logs, cmd_prune, cmd_ps, cmd_retry, cmd_rm, cmd_run, cmd_schema,
    cmd_selftest, cmd_status, cmd_template_build, cmd_template_check,
    cmd_template_grant, cmd_template_ls, cmd_template_new, cmd_template_show,
    cmd_template_test, cmd_token, cmd_usage, cmd_wait, cmd_result;

#endif
