/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete_server.h - the words before the one that is to be completed, candidates for
 * it, and those that a server knows.
 */
#ifndef CLI_COMPLETE_SERVER_H
#define CLI_COMPLETE_SERVER_H

#include <stddef.h>

#include "cli/cli.h"

#define COMPLETE_PATIENCE_S 3 /* then it is all given up */

/* Before the word to complete there are N; each candidate is a line. */
struct complete_words {
	const struct cli *cli;
	const char *const *word;
	int n;
	const char *last; /* as far as it is typed */
	char prefix[64];  /* of each candidate: "--status=" */
	struct cli seen;  /* what the words before say of a server */
};

/* complete.c: LEN bytes of WORD are a candidate, if that is how it goes on. */
void complete_offer_about(const struct complete_words *w, const char *word,
			  size_t len, const char *about);
void complete_offer(const struct complete_words *w, const char *word);

/* Those that CMD takes: only what is not over can be cancelled. */
void complete_runs(const struct command *cmd, const struct complete_words *w);
/* The newest artifacts by their ids: uploads, and (ALL) what runs made. */
void complete_artifact_ids(const struct complete_words *w, bool all);
/* Those of RUN, by their names. */
void complete_artifacts(const struct complete_words *w, const char *run);
void complete_templates(const struct complete_words *w);
/* "key=", of each input of TEMPLATE; who has no daemon starts a server for it. */
void complete_inputs(const struct complete_words *w, const char *template);
/* The same of RUN's template, which a daemon alone can tell. */
void complete_inputs_of_run(const struct complete_words *w, const char *run);

#endif
