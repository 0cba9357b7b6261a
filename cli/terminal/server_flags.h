/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_flags.h - flags for hints, to reach the same server by a further
 * command.
 */
#ifndef CLI_SERVER_FLAGS_H
#define CLI_SERVER_FLAGS_H

#include <stdbool.h>

#include "cli/terminal/cli.h"

/*
 * Return RUN and the flags of CLI about the server, as words for a shell:
 * "run_abc --state-dir DIR". The caller's.
 */
char *server_flags_for_run(const struct cli *cli, const char *run);

/* Set the flags for server_flags(), parsed from the words. Borrows CLI. */
void server_flags_set(const struct cli *cli);
/* Return CLI's flags alone: " --state-dir DIR"; "" for the usual server. */
const char *server_flags(void);

/* Characters without a special meaning in a shell. */
#define SERVER_FLAGS_PLAIN                                                     \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@,+-"
/* Has WORD at least one character, and all of SERVER_FLAGS_PLAIN? */
bool server_flags_is_plain(const char *word);

#endif
