/* SPDX-License-Identifier: Apache-2.0 */
/* template_findings.h - what paddockd says of templates that it only looks at. */
#ifndef CLI_TEMPLATE_FINDINGS_H
#define CLI_TEMPLATE_FINDINGS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/cli.h"

/*
 * {"templates":["id version"…],"problems":["…"…]} for what CLI's flags name,
 * or for DIR unless that is NULL. NULL: it could not be run, which has been
 * said. The caller owns it.
 */
struct json_object *template_findings_all(const struct cli *cli,
					  const char *dir);

/*
 * Say which of those that CLI's flags name are left out, and why: what a
 * private server of them does not tell. Is one in a folder called NAME (NULL:
 * none is looked for), then that alone, and its folder is returned, the caller's.
 */
char *template_findings_skipped(const struct cli *cli, const char *name);

/* 0: DIR is there; else it was said, and the exit status. */
int template_findings_dir(const char *dir);
/* Has DIR a manifest? */
bool template_findings_is_package(const char *dir);
/* Say that there is no package in DIR. */
void template_findings_none(const char *dir);

/*
 * What templates ask for and are granted, likewise: paddockd --print-grants'
 * array. Those that cannot be loaded are left out.
 */
struct json_object *template_findings_grants(const struct cli *cli,
					     const char *dir);

/*
 * All that is wrong with them: [{path, templateId?, version?, lua?, faults,
 * more?}], as supervisor/grants/package_check.h has it; Lua is not compiled by then.
 */
struct json_object *template_findings_errors(const struct cli *cli,
					     const char *dir);

/*
 * After it was said that NAME (perhaps with @VERSION) is not there: that it is
 * a package in this folder, or is left out as broken. PRIVATE: it was asked of
 * a private server, which does not tell what it leaves out.
 */
void template_locate(const struct cli *cli, const char *name, bool private);

#endif
