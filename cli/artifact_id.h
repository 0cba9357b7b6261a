/* SPDX-License-Identifier: Apache-2.0 */
/* artifact_id.h - artifacts as people name them: an id, or how it begins. */
#ifndef CLI_ARTIFACT_ID_H
#define CLI_ARTIFACT_ID_H

#include "cli/client.h"

/*
 * GIVEN's whole id, the caller's, in *ID, of one's uploads and of what one's runs
 * made; what is none is left to the server to refuse. 0, or an exit status: it is
 * several's, and that has been said.
 */
int artifact_id_find(const struct cli *cli, struct client *c, const char *given,
		     char **id);

#endif
