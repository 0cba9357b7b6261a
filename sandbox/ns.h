/* SPDX-License-Identifier: Apache-2.0 */
/* ns.h - the namespaces that all workers share; namespaces(7). */
#ifndef SANDBOX_NS_H
#define SANDBOX_NS_H

#include "sandbox/sandbox_types.h"

/*
 * Enter a user namespace with one id for each slot and one for the zygote, or
 * with the caller's id alone where it may not map others; then the other
 * namespaces, but for the network's where the host's is asked for. Fills err[], own_ids, first_id and uid_base.
 */
void ns_enter(struct sandbox *sb);

/*
 * In a worker of its own PID namespace, whose /proc is open as PROC: a user
 * namespace within ours, with the same id. 0 or -errno.
 */
int ns_enter_own(int proc);

/*
 * In such a worker: our mount namespace lasts at least until nobody has the other
 * end of SOCK any more, which is closed here. Where that cannot be had it ends
 * with us.
 */
void ns_hold_mounts(int proc, int sock);

#endif
