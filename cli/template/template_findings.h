/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_findings.h - paddockd's reports on templates, without starting a
 * server.
 */
#ifndef CLI_TEMPLATE_FINDINGS_H
#define CLI_TEMPLATE_FINDINGS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/terminal/cli.h"

/*
 * Return {"templates": ["id version", ...], "problems": ["...", ...]} for the
 * folders in CLI's flags, or for DIR unless that is NULL. The caller owns it.
 * NULL: paddockd could not be run, which was printed.
 */
struct json_object *template_findings_all(const struct cli *cli,
					  const char *dir);

/*
 * Print the templates in the folders of CLI's flags that are skipped, and why:
 * a private server does not report them. If NAME is not NULL and a skipped
 * template is in a folder called NAME, print only that template, and return the
 * folder, the caller's. Else NULL.
 */
char *template_findings_skipped(const struct cli *cli, const char *name);

/* Is DIR a folder? 0, or the exit status, the reason printed. */
int template_findings_dir(const char *dir);
/* Has DIR a manifest? */
bool template_findings_is_package(const char *dir);
/* Print that there is no package in DIR. */
void template_findings_none(const char *dir);

/*
 * Return the permissions that templates ask for and have: the array of paddockd
 * --print-grants, the caller's; NULL: failed, the reason printed. Templates
 * that cannot be loaded are left out.
 */
struct json_object *template_findings_grants(const struct cli *cli,
					     const char *dir);

/*
 * Return the faults of packages: [{path, templateId?, version?, lua?, faults,
 * more?}], as in supervisor/packages/grants/package_check.h, the caller's; Lua has not
 * been compiled. NULL: failed, the reason printed.
 */
struct json_object *template_findings_errors(const struct cli *cli,
					     const char *dir);

/*
 * After the message that NAME (perhaps with @VERSION) does not exist, print a
 * hint: NAME is a package in the current folder, or is skipped as broken.
 * PRIVATE: a private server was asked, which does not report skipped templates.
 */
void template_locate(const struct cli *cli, const char *name, bool private);

#endif
