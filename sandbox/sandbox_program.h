/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_program.h - the sandbox of programs, and the order in which it is
 * built.
 *   sandbox_build_program()  filters   compile the program's and its shim's
 *     (zygote)               rootfs    as root: while it may read everything
 *                            ns        user, then net, ipc, uts, mnt
 *                            rootfs    not as root: now
 *                            keyring, caps, as for a Lua worker
 *   sandbox_enter_program()  fds       the run's socket and /dev/null
 *     (the shim: PID 1 of    rootfs    own package, /proc, /work, /tmp, shm
 *     its own namespaces)    ids       the slot's; where runs share one, a
 *                                      user namespace, for what is counted
 *                            pdeathsig dies with its parent
 *                            caps      none
 *   sandbox_leave_to_program() landlock  but for files: the rootfs limits them
 *     (the program)          limits    the run's
 *                            filter    last; it reports to the shim
 *   sandbox_bound_files()    limits    of descriptors, once all are open
 *
 * All of it or nothing: a program that is not alone in its namespaces is not
 * run; but the operator may let it do without a user namespace, as root. The
 * shim loads its own filter, once the program is started.
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
 * In a worker just cloned with sandbox_program_clone. As sandbox_enter(); *PROC
 * is what rootfs_enter() gives, and P->bare is filled in.
 */
int sandbox_enter_program(const struct sandbox *sb, struct sandbox_program *p,
			  int *proc, enum sandbox_layer *failed);

/* The descriptor to which the program's filter reports, or -errno. */
int sandbox_leave_to_program(const struct sandbox *sb,
			     const struct sandbox_program *p);

/*
 * The same for what builds a package, in a root with a network: it may connect
 * to hosts, and nothing is reported. It is *PATH that is executed then, which is
 * moved to where the filter takes it from, and nothing after it. 0 or -errno.
 */
int sandbox_leave_to_build(const struct sandbox *sb,
			   const struct sandbox_program *p, const char **path);

/* In the same process, later. 0 or -errno. */
int sandbox_bound_files(const struct sandbox_program *p);

/* The flags of clone(2) for the namespaces of each program. */
extern const unsigned long sandbox_program_clone;

#endif
