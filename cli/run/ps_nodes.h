/* SPDX-License-Identifier: Apache-2.0 */
/* ps_nodes.h - "paddock ps --nodes". */
#ifndef CLI_PS_NODES_H
#define CLI_PS_NODES_H

#include "cli/terminal/cli.h"
#include "cli/client/client.h"

/* Print the servers that share the database of C's. Returns the status. */
int ps_nodes(const struct cli *cli, struct client *c);

#endif
