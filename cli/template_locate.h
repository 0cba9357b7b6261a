/* SPDX-License-Identifier: Apache-2.0 */
/* template_locate.h - of a template that the server does not have: where it may be. */
#ifndef CLI_TEMPLATE_LOCATE_H
#define CLI_TEMPLATE_LOCATE_H

#include <stdbool.h>

#include "cli/cli.h"

/*
 * After it was said that NAME (perhaps with @VERSION) is not there: that it is
 * a package in this folder, or is left out as broken. PRIVATE: it was asked of
 * a private server, which does not tell what it leaves out.
 */
void template_locate(const struct cli *cli, const char *name, bool private);

#endif
