/* SPDX-License-Identifier: Apache-2.0 */
/* template_load.h - makes templates of packages on disk. */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_LOAD_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_LOAD_H

#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/packages/templates/template.h"

/*
 * Read and check the package in DIR. Returns the template (one user: the
 * caller's), or NULL with the fault, the place (JSON pointer) and a value that
 * would pass in ERRMSG (at most SIZE bytes). WORKERS_ARE_OTHERS: workers run as
 * other users, since root started the server, so that a program has to be open
 * to all users.
 */
struct template *template_load(const char *dir, bool workers_are_others,
			       char *errmsg, size_t size);

/*
 * Look at T's entry in the package FD; Lua's text is read into T. 0, or -EINVAL
 * with an error in F: at the manifest's "entry", or in the file.
 */
int template_entry_load(struct template *t, int fd, bool workers_are_others,
			struct diagnostics *f);

#define TEMPLATE_FILES_MAX ((size_t)8 << 20) /* bytes of all files together */

/*
 * Read the files of resources and prompts from the package FD into T: clients
 * get the bytes that were digested. 0, or -EINVAL with an error in F for each
 * file that cannot be read.
 */
int template_files_load(struct template *t, int fd, struct diagnostics *f);

#endif
