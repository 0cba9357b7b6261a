/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete_server.h - the words before the word to complete, and candidates
 * that a server knows.
 */
#ifndef CLI_COMPLETE_SERVER_H
#define CLI_COMPLETE_SERVER_H

#include <stddef.h>

#include "cli/terminal/cli.h"

#define COMPLETE_PATIENCE_S 3 /* then the process ends */

/* The command line: N words before the word to complete. */
struct complete_words {
	const struct cli *cli;
	const char *const *word;
	int n;
	const char *last; /* the word to complete, as typed so far */
	char prefix[64];  /* printed before each candidate: "--status=" */
	struct cli seen;  /* the flags about the server among the words */
};

/* In complete.c: print LEN bytes of WORD, if they continue the last word. */
void complete_offer_about(const struct complete_words *w, const char *word,
			  size_t len, const char *about);
void complete_offer(const struct complete_words *w, const char *word);

/* Offer the runs that CMD takes: for "cancel" only runs that have not ended. */
void complete_runs(const struct command *cmd, const struct complete_words *w);
/* Offer the newest artifacts by id: uploads, and (ALL) those of runs. */
void complete_artifact_ids(const struct complete_words *w, bool all);
/* Offer the artifacts of RUN by their names. */
void complete_artifacts(const struct complete_words *w, const char *run);
/* Offer the notebooks that a daemon keeps. */
void complete_notebooks(const struct complete_words *w);
void complete_templates(const struct complete_words *w);
/* Offer "key=" for each input of TEMPLATE, by a private server if need be. */
void complete_inputs(const struct complete_words *w, const char *template);
/* Offer "key=" for each input of the template of RUN. */
void complete_inputs_of_run(const struct complete_words *w, const char *run);

#endif
