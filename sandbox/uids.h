/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uids.h - user and group ids of the zygote and its workers, and what is set
 * after their last change: a process dies with its parent and cannot be
 * inspected.
 */
#ifndef SANDBOX_UIDS_H
#define SANDBOX_UIDS_H

#include <stdbool.h>

#include "sandbox/sandbox_types.h"

/* The first id in our user namespace, where nobody is root. */
#define UIDS_FIRST_INSIDE 1u

/* In a mapped user namespace: become the id after the last slot's. 0, -errno */
int uids_zygote_mapped(const struct sandbox *sb);

/*
 * Without a user namespace: take the ids that the host keeps for us. Fills
 * own_ids, first_id, uid_base. 0, or -errno with the uid unchanged; -ENOENT:
 * there are none.
 */
int uids_zygote_direct(struct sandbox *sb);

/* Take the id of SLOT, where slots have ids. 0 or -errno. */
int uids_worker(const struct sandbox *sb, unsigned int slot);

/*
 * SIGKILL for us when our parent dies, and no ptrace(2) or core dump. A change
 * of ids undoes both, so this comes after the last. The parent holds the other
 * end of socket FD: -ESRCH when it is dead already.
 */
int pdeathsig_set(int fd);

#endif
