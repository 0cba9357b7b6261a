/* SPDX-License-Identifier: Apache-2.0 */
/* ps_warm.h - "paddock ps --warm". */
#ifndef CLI_PS_WARM_H
#define CLI_PS_WARM_H

#include "cli/terminal/cli.h"
#include "cli/client/client.h"

/* Print C's workers that wait for runs. Returns the exit status. */
int ps_warm(const struct cli *cli, struct client *c);

#endif
