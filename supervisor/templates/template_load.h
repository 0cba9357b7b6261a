/* SPDX-License-Identifier: Apache-2.0 */
/* template_load.h - packages on disk to templates. */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_LOAD_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_LOAD_H

#include "supervisor/package/diagnostics.h"
#include "supervisor/templates/template.h"

/*
 * Read and check the package in DIR. The template (one user: the caller's),
 * or NULL with what is wrong, where (JSON pointer) and what would pass in
 * ERRMSG (at most SIZE bytes). Where WORKERS_ARE_OTHERS, as they are when root
 * started the server, a program has to be open to all.
 */
struct template *template_load(const char *dir, bool workers_are_others,
			       char *errmsg, size_t size);

/*
 * A program runs from its folder: is T's still what was read? False, and ERRMSG
 * says what would help.
 */
bool template_unchanged(struct template *t, char *errmsg, size_t size);

/*
 * Look at T's entry in the package FD; Lua's text is read into T. 0, or
 * -EINVAL with an error in F: at the manifest's "entry", or in the file.
 */
int template_entry_load(struct template *t, int fd, bool workers_are_others,
			struct diagnostics *f);

#define TEMPLATE_FILES_MAX ((size_t)8 << 20) /* bytes of all of them */

/*
 * Read them from the package FD into T: what clients are given is what was
 * there when the digest was taken. 0, or -EINVAL with an error in F for each
 * that cannot be had.
 */
int template_files_load(struct template *t, int fd, struct diagnostics *f);

#endif
