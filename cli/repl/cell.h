/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h - a cell as a run in a notebook. */
#ifndef CLI_CELL_H
#define CLI_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/client/client.h"
#include "cli/terminal/cli.h"

struct cell_place {
	const struct cli *cli;
	struct client *client;
	const char *template, *notebook;
	const char *folder; /* for figures */
	int64_t timeout_ms; /* of a cell; 0: as the template has it */
};

/*
 * Run CODE, N bytes, and show the outcome; a ctrl-C cancels the run. *WELL: the
 * cell ended well. 0, or the exit status that ends all: the server has gone,
 * or has no such template.
 */
int cell_run(const struct cell_place *p, const char *code, size_t n,
	     bool *well);

#endif
