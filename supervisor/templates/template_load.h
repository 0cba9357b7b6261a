/* SPDX-License-Identifier: Apache-2.0 */
/* template_load.h - packages on disk to templates. */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_LOAD_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_LOAD_H

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

#endif
