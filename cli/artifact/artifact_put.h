/* SPDX-License-Identifier: Apache-2.0 */
/* artifact_put.h - uploads files of this machine as artifacts of the server. */
#ifndef CLI_ARTIFACT_PUT_H
#define CLI_ARTIFACT_PUT_H

#include <json-c/json.h>

#include "cli/terminal/cli.h"
#include "cli/client/client.h"

/*
 * Upload the files that INPUTS name by "-i key=@@FILE"; each such input becomes
 * {"$artifact": id}. 0, or the exit status, the reason printed.
 */
int artifact_put_all(const struct cli *cli, struct client *c,
		     struct json_object *inputs);

/* Print LIST, of artifacts, a row each; BYTES is the key of the size. */
void artifact_put_print(struct json_object *list, const char *bytes);

/* Print this user's uploads, newest first. 0 or an exit status. */
int artifact_put_list(const struct cli *cli, struct client *c);

#endif
