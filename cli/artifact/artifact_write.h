/* SPDX-License-Identifier: Apache-2.0 */
/* artifact_write.h - writes artifacts into files. */
#ifndef CLI_ARTIFACT_WRITE_H
#define CLI_ARTIFACT_WRITE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/client/client.h"

/*
 * Fetch all of VIEW's artifacts into folder DIR, which is made if missing. Each
 * goes to the path of its name below DIR, with parts made harmless and under a
 * name not in use yet; no link is followed. Each path is printed on stderr
 * unless QUIET. After a failure the next artifact is tried. 0, or an exit
 * status.
 *
 * A name that other programs obey (CLAUDE.md, Makefile) causes a warning. If
 * DIR existed before, as a project's folder does, the user is asked first;
 * without a yes, or a terminal, the file gets a name that no program obeys. If
 * the user NAMED the artifact, nothing is asked.
 */
int artifact_write_all(struct client *c, struct json_object *view,
		       const char *dir, bool quiet, bool named);

/*
 * Fetch artifact ID into the file at PATH, which is overwritten, or "-" for
 * stdout. 0 or an exit status.
 */
int artifact_write_file(struct client *c, const char *id, const char *path);

#endif
