/* SPDX-License-Identifier: Apache-2.0 */
/* template_entry.h - the file of a package that its runs begin with. */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_ENTRY_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_ENTRY_H

#include "supervisor/package/diagnostics.h"
#include "supervisor/templates/template.h"

/*
 * Look at T's entry in the package FD; Lua's text is read into T. 0, or
 * -EINVAL with an error in F: at the manifest's "entry", or in the file.
 */
int template_entry_load(struct template *t, int fd, bool workers_are_others,
			struct diagnostics *f);

#endif
