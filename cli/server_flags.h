/* SPDX-License-Identifier: Apache-2.0 */
/* server_flags.h - the flags that lead a further command to the same server. */
#ifndef CLI_SERVER_FLAGS_H
#define CLI_SERVER_FLAGS_H

#include <stdbool.h>

#include "cli/cli.h"

/*
 * RUN, and CLI's flags that say where runs are kept, as words for a shell:
 * "run_… --state-dir DIR". The caller's.
 */
char *server_flags_for_run(const struct cli *cli, const char *run);

/* Once the flags of all commands are read. CLI outlives the last there(). */
void server_flags_set(const struct cli *cli);
/* Those flags alone: " --state-dir DIR"; "" of the usual server. */
const char *server_flags(void);

/* What a shell leaves as it is. */
#define SERVER_FLAGS_PLAIN                                                     \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@,+-"
/* May WORD stand in a shell as it is? */
bool server_flags_is_plain(const char *word);

#endif
