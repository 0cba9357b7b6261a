/* SPDX-License-Identifier: Apache-2.0 */
/* run_id.h - runs as people name them: an id, how it begins, or "last". */
#ifndef CLI_RUN_ID_H
#define CLI_RUN_ID_H

#include "cli/client.h"

/*
 * GIVEN's whole id, the caller's, in *ID; what is none is left to the server to
 * refuse. 0, or an exit status: it is several's, and that has been said.
 */
int run_id_find(const struct cli *cli, struct client *c, const char *given,
		char **id);

/*
 * The beginning of an id of KIND ("run_") that GIVEN is, with or without that; the
 * caller's. NULL: it is none, or a whole one.
 */
char *run_id_beginning(const char *given, const char *kind);

#endif
