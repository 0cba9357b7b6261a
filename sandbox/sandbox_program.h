/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_program.h - the cage of any program, and the order in which it is built.
 *
 *   sandbox_build_program()  filters   compile the program's and its shim's
 *     (zygote)               tree      as root: while it may read all
 *                            ns        user, then net, ipc, uts, mnt
 *                            tree      else: now
 *                            keyring, caps, as for any worker
 *   sandbox_enter_program()  fds       the run's socket and null
 *     (the shim: PID 1 of    tree      own package, /proc, /work, /tmp, shm
 *     its own namespaces)    ids       the slot's; where runs share one, a
 *                                      user namespace, for what is counted
 *                            orphans   dies with its parent
 *                            caps      none
 *   sandbox_leave_to()       landlock  but for files: the tree has them
 *     (the program)          limits    the run's
 *                            filter    last; what it reports goes to the shim
 *   sandbox_bound_files()    limits    the last, once its descriptors are made
 *
 * Nothing less will do: a program that is not alone in its namespaces is not
 * run; but the operator may let it do without a user namespace, as root. The shim's own filter is up to it, once the program is started.
 */
#ifndef SANDBOX_SANDBOX_PROGRAM_H
#define SANDBOX_SANDBOX_PROGRAM_H

#include "sandbox/rootfs/rootfs.h"
#include "sandbox/sandbox_types.h"

/*
 * As sandbox_build(). 0, or -errno with the layer in *FAILED and, where that
 * is the root, the path in *AT.
 */
int sandbox_build_program(struct sandbox *sb, unsigned int slots,
			  unsigned int host_ids, struct rootfs *t,
			  enum sandbox_layer *failed, const char **at);

/*
 * In a worker just cloned into SANDBOX_PROGRAM_CLONE. As sandbox_enter(); says
 * in P whether what the program will see is bare.
 */
int sandbox_enter_program(const struct sandbox *sb, struct sandbox_program *p,
			  int *proc, enum sandbox_layer *failed);

/* The listener of what the program's filter reports, or -errno. */
int sandbox_leave_to_program(const struct sandbox *sb,
			     const struct sandbox_program *p);

/* In the same process, later. 0 or -errno. */
int sandbox_bound_files(const struct sandbox_program *p);

/* clone(2)'s flags for what each program has to itself. */
extern const unsigned long sandbox_program_clone;

#endif
