/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - paddock-egress: flags and the channel to the supervisor. paddockd starts the
 * process with a socket as descriptor 3, and starts another process after an exit.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/fdpass.h"
#include "base/os/log.h"
#include "egress/keeper.h"
#include "ipc/egress_proto.h"

#define EXIT_USAGE 2

static const char usage[] =
    "usage: paddock-egress [option]...\n"
    "\n"
    "Only paddockd starts this program, with a socket as descriptor 3.\n"
    "\n"
    "  --secret-file PATH  a file that may be a secret's; again for each\n"
    "  --log-level LEVEL   error, warn, info or debug\n"
    "  --version           print the version, then exit\n"
    "  --help              print this, then exit\n";

static const char *files[KEEPER_FILES_MAX + 1]; /* values of --secret-file */
static size_t n_files;

enum { OPT_LEVEL = 256, OPT_FILE, OPT_VERSION, OPT_HELP };

static const struct option options[] = {
    {"log-level", required_argument, NULL, OPT_LEVEL},
    {"secret-file", required_argument, NULL, OPT_FILE},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

/* Returns the exit status; -1: go on. */
static int take_flag(int opt)
{
	int level;

	switch (opt) {
	case OPT_LEVEL:
		level = log_level_of(optarg);
		if (level >= 0) {
			log_set_level((enum log_level)level);
			return -1;
		}
		fprintf(stderr,
			"paddock-egress: --log-level is \"%s\"; error, warn, "
			"info or debug would pass\n",
			optarg);
		return EXIT_USAGE;
	case OPT_FILE:
		if (n_files < KEEPER_FILES_MAX) {
			files[n_files++] = optarg;
			return -1;
		}
		fprintf(stderr,
			"paddock-egress: at most %d files of secrets pass\n",
			KEEPER_FILES_MAX);
		return EXIT_USAGE;
	case OPT_VERSION:
		puts("paddock-egress " PADDOCK_VERSION);
		return EXIT_SUCCESS;
	case OPT_HELP:
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	default:
		return EXIT_USAGE; /* getopt_long() tells the fault */
	}
}

int main(int argc, char **argv)
{
	int opt, status;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		status = take_flag(opt);
		if (status >= 0)
			return status;
	}
	if (optind < argc || !fdpass_is_control(EGRESS_FD)) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	return keeper_run(files);
}
