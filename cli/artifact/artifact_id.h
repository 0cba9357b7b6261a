/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_id.h - artifacts as people name them: an id, or the beginning of an
 * id.
 */
#ifndef CLI_ARTIFACT_ID_H
#define CLI_ARTIFACT_ID_H

#include "cli/client/client.h"

/*
 * Complete GIVEN to the id of an artifact, in *ID, the caller's, from this
 * user's uploads and the artifacts of this user's runs. If no artifact fits,
 * GIVEN is copied, for the server to refuse. 0, or an exit status: several
 * artifacts fit, and a message was printed.
 */
int artifact_id_find(const struct cli *cli, struct client *c, const char *given,
		     char **id);

#endif
