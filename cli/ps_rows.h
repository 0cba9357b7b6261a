/* SPDX-License-Identifier: Apache-2.0 */
/* ps_rows.h - what "paddock ps" shows instead of runs. */
#ifndef CLI_PS_ROWS_H
#define CLI_PS_ROWS_H

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/client.h"

/*
 * The array MEMBER of METHOD's result, as JSON or by SHOW, with *N of them. The exit
 * status; that of the call, when there is none.
 */
int ps_rows(const struct cli *cli, struct client *c, const char *method,
	    const char *member, void (*show)(struct json_object *rows),
	    size_t *n);

#endif
