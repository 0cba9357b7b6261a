/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ps_rows.h - rows of the server's, printed by "paddock ps" in place of runs.
 */
#ifndef CLI_PS_ROWS_H
#define CLI_PS_ROWS_H

#include <json-c/json.h>

#include "cli/terminal/cli.h"
#include "cli/client/client.h"

/*
 * Call METHOD and print the array MEMBER of the result, as JSON or by SHOW; *N
 * is the array's length. Returns the exit status.
 */
int ps_rows(const struct cli *cli, struct client *c, const char *method,
	    const char *member, void (*show)(struct json_object *rows),
	    size_t *n);

#endif
