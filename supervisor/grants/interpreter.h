/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter.h - could the kernel execute a program template's entry, as its
 * runs see the machine?
 */
#ifndef SUPERVISOR_GRANTS_INTERPRETER_H
#define SUPERVISOR_GRANTS_INTERPRETER_H

#include "supervisor/package/diagnostics.h"
#include "supervisor/templates/template.h"

/*
 * Look into T's entry in the package FD, which template_entry_load() has found: the
 * interpreter of its #! line, or the machine and the loader that it was built
 * for. Each that is not there is an error in F. Of T: entry and reads.
 */
void interpreter_check(const struct template *t, int fd, struct diagnostics *f);

#endif
