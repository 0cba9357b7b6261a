/* SPDX-License-Identifier: Apache-2.0 */
/* notebook.h - lists notebooks, for "paddock ps --residents" as well. */
#ifndef CLI_NOTEBOOK_H
#define CLI_NOTEBOOK_H

#include "cli/terminal/cli.h"
#include "cli/client/client.h"

/* Print the notebooks that C's server keeps for the user. Returns the status. */
int notebook_list(const struct cli *cli, struct client *c);

#endif
