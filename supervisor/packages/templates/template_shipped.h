/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_shipped.h - the templates that come with paddock, and their grants
 * without an operator's word: etc/shipped.conf, part of the program.
 */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_SHIPPED_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_SHIPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/config/config.h"

/*
 * Is the package open as FD a child of the folder of templates with which this
 * program was built or installed? The folder itself is compared, not a name: a
 * copy of the folder does not count, and a link to the folder does.
 */
bool template_shipped_is(int fd);

/* Return the grants of shipped packages; valid as long as the program runs. */
const struct config_grant *template_shipped_grants(size_t *n);

#endif
