/* SPDX-License-Identifier: Apache-2.0 */
/* template_files.h - the files that resources and prompts of a template name. */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_FILES_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_FILES_H

#include "supervisor/package/diagnostics.h"
#include "supervisor/templates/template.h"

#define TEMPLATE_FILES_MAX ((size_t)8 << 20) /* bytes of all of them */

/*
 * Read them from the package FD into T: what clients are given is what was
 * there when the digest was taken. 0, or -EINVAL with an error in F for each
 * that cannot be had.
 */
int template_files_load(struct template *t, int fd, struct diagnostics *f);

#endif
