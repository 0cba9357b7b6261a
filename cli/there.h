/* SPDX-License-Identifier: Apache-2.0 */
/* there.h - the flags that lead a further command to the same server. */
#ifndef CLI_THERE_H
#define CLI_THERE_H

#include "cli/cli.h"

/*
 * RUN, and CLI's flags that say where runs are kept, as words for a shell:
 * "run_… --state-dir DIR". The caller's.
 */
char *there_run(const struct cli *cli, const char *run);

#endif
