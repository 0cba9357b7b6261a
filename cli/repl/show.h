/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.h - shows a cell's outputs while the cell runs and at the end, then value,
 * error, figures, and news of the notebook.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/buf.h"
#include "cli/client/client.h"
#include "cli/terminal/cli.h"

/* An output of a cell. */
struct show_output {
	struct buf told; /* shown while the cell ran */
	bool lost;	 /* told is not the whole */
};

struct show {
	const struct cli *cli; /* lent */
	struct client *client; /* lent */
	const char *folder;    /* for figures; lent */
	struct show_output out, err;
};

/* A client_log: show a line of the log while the run of S goes on. */
void show_log(void *s, const char *level, const char *text);
/*
 * Show the ended run of VIEW, except for the output shown before. Returns whether
 * the cell ended well and all figures were written.
 */
bool show_end(struct show *s, struct json_object *view);
void show_fini(struct show *s);

#endif
