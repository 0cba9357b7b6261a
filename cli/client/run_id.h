/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_id.h - runs as people name them: an id, the beginning of an id, or
 * "last".
 */
#ifndef CLI_RUN_ID_H
#define CLI_RUN_ID_H

#include "cli/client/client.h"

/*
 * Complete GIVEN to the id of a run, in *ID, the caller's. If no run fits,
 * GIVEN is copied, for the server to refuse. 0, or an exit status: several runs
 * fit, or "last" and there is no run, which was printed.
 */
int run_id_find(const struct cli *cli, struct client *c, const char *given,
		char **id);

/*
 * Return GIVEN as the beginning of an id with the prefix KIND ("run_"), added
 * if missing; the caller's. NULL: GIVEN is a whole id, or cannot begin an id.
 */
char *run_id_beginning(const char *given, const char *kind);

#endif
