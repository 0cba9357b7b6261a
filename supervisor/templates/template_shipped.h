/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_shipped.h - the templates that come with paddock, and what they may have
 * without an operator's word: etc/shipped.conf, which is part of the program.
 */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_SHIPPED_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_SHIPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/config/config.h"

/*
 * Is the package that is open as FD a child of the folder that this program
 * was built or installed with? By the folder itself, not by a name of it: a
 * copy is none, and a link to one is the one that it leads to.
 */
bool template_shipped_is(int fd);

/* What those packages may have; they live as long as the program. */
const struct config_grant *template_shipped_grants(size_t *n);

#endif
