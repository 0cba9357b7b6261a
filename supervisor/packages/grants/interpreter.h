/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter.h - could the kernel execute a program template's entry, in the
 * machine as its runs see it?
 */
#ifndef SUPERVISOR_GRANTS_INTERPRETER_H
#define SUPERVISOR_GRANTS_INTERPRETER_H

#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/packages/templates/template.h"

/*
 * Look into T's entry in the package FD, which template_entry_load() has found:
 * the interpreter of the #! line, or the machine and the loader that the
 * program was built for. Each missing part is an error in F. Of T only entry
 * and reads are used.
 */
void interpreter_check(const struct template *t, int fd, struct diagnostics *f);

#endif
