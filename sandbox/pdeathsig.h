/* SPDX-License-Identifier: Apache-2.0 */
/* pdeathsig.h - a process that dies with its parent and cannot be inspected. */
#ifndef SANDBOX_PDEATHSIG_H
#define SANDBOX_PDEATHSIG_H

#include <stdbool.h>

/*
 * SIGKILL for us when our parent dies, and no ptrace(2) or core dump. A change
 * of ids undoes both, so this comes after the last. The parent holds the other
 * end of socket FD: -ESRCH when it is dead already.
 */
int pdeathsig_set(int fd);

#endif
