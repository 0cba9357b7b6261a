/* SPDX-License-Identifier: Apache-2.0 */
/* ns.h - the namespaces that all workers share; namespaces(7). */
#ifndef SANDBOX_NS_H
#define SANDBOX_NS_H

#include "sandbox/sandbox_types.h"

/*
 * Enter a user namespace with one id for each slot and one for the zygote, or
 * with the caller's id alone where the caller may not map other ids; then enter
 * the other namespaces, except the network namespace if sb->host_network is
 * set. Fills err[], own_ids, first_id and uid_base.
 */
void ns_enter(struct sandbox *sb);

/*
 * For a worker in a PID namespace of its own, whose /proc is open as PROC:
 * enter a user namespace below the current one, with the same id. 0 or -errno.
 */
int ns_enter_own(int proc);

/* Bring up the loopback interface of this network namespace. 0 or -errno. */
int ns_loopback(void);

/*
 * For a worker in a PID namespace of its own: keep the mount namespace alive until the
 * last copy of the other end of SOCK is closed, by sending a descriptor of the namespace
 * through SOCK. Closes SOCK. On failure the mount namespace ends with the worker.
 */
void ns_hold_mounts(int proc, int sock);

#endif
