/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uids.h - user and group ids of the zygote and of workers; and after the last change of
 * ids: SIGKILL at the parent's death, and no inspection of the process.
 */
#ifndef SANDBOX_UIDS_H
#define SANDBOX_UIDS_H

#include <stdbool.h>

#include "sandbox/sandbox_types.h"

/* The first id in the user namespace of the workers, where no process is root. */
#define UIDS_FIRST_INSIDE 1u

/* In a mapped user namespace: become the id after the last slot's. 0 or -errno. */
int uids_zygote_mapped(const struct sandbox *sb);

/*
 * Without a user namespace: become one of the reserved host ids. Fills own_ids, first_id
 * and uid_base. 0, or -errno with the uid unchanged; -ENOENT: no ids are reserved.
 */
int uids_zygote_direct(struct sandbox *sb);

/* Become the id of SLOT, if slots have ids. 0 or -errno. */
int uids_worker(const struct sandbox *sb, unsigned int slot);

/*
 * Have the kernel kill the process when the parent dies, and forbid ptrace(2) and core
 * dumps. A change of ids resets both, so call pdeathsig_set() after the last change. The
 * parent holds the other end of socket FD; -ESRCH when the parent is dead already.
 */
int pdeathsig_set(int fd);

#endif
