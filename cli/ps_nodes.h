/* SPDX-License-Identifier: Apache-2.0 */
/* ps_nodes.h - "paddock ps --nodes". */
#ifndef CLI_PS_NODES_H
#define CLI_PS_NODES_H

#include "cli/cli.h"
#include "cli/client.h"

/* Show the servers that have a database together with C's. The exit status. */
int ps_nodes(const struct cli *cli, struct client *c);

#endif
