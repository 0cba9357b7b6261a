/* SPDX-License-Identifier: Apache-2.0 */
/* artifact_put.h - files of this machine that become artifacts of the server's. */
#ifndef CLI_ARTIFACT_PUT_H
#define CLI_ARTIFACT_PUT_H

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/client.h"

/*
 * Upload what INPUTS have by "-i key=@@FILE", each of which becomes {"$artifact":
 * id}. 0, or the exit status, and it has been said why.
 */
int artifact_put_all(const struct cli *cli, struct client *c,
		     struct json_object *inputs);

/* Print LIST, of artifacts, a row each; BYTES is the key that has how many they are. */
void artifact_put_print(struct json_object *list, const char *bytes);

/* Print what this user has uploaded, newest first. */
int artifact_put_list(const struct cli *cli, struct client *c);

#endif
