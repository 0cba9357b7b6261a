/* SPDX-License-Identifier: Apache-2.0 */
/* artifact_write.h - artifacts into files: where they go, and what becomes of it. */
#ifndef CLI_ARTIFACT_WRITE_H
#define CLI_ARTIFACT_WRITE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/client.h"

/*
 * Fetch all of VIEW's artifacts into folder DIR, which is made: each by its
 * path below that, whose parts are made harmless, and under a name that is not
 * in use yet; no link is followed. Each path goes to stderr unless QUIET. One
 * that fails is told of and the next is tried. 0, or an exit status.
 */
int artifact_write_all(struct client *c, struct json_object *view,
		       const char *dir, bool quiet);

/* Into the file at PATH, which is overwritten, or "-" for stdout. */
int artifact_write_file(struct client *c, const char *id, const char *path);

#endif
