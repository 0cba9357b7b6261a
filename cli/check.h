/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - what paddockd --check says of templates. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <json-c/json.h>

#include "cli/cli.h"

/*
 * {"templates":["id version"…],"problems":["…"…]} for what CLI's flags name,
 * or for DIR unless that is NULL. NULL: it could not be run, which has been
 * said. The caller owns it.
 */
struct json_object *check_templates(const struct cli *cli, const char *dir);

/*
 * What templates ask for and are granted, likewise: paddockd --print-grants'
 * array. Those that cannot be loaded are left out.
 */
struct json_object *check_grants(const struct cli *cli, const char *dir);

#endif
