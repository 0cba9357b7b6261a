/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_program.h - the sandbox of programs, and the order in which the layers
 * are built.
 *   sandbox_build_program()  filters   compile the filters of program and shim
 *     (zygote)               rootfs    as root: while everything is readable
 *                            ns        user, then net, ipc, uts, mnt
 *                            rootfs    not as root: now
 *                            keyring, caps, as for a Lua worker
 *   sandbox_enter_program()  fds       the run's socket and /dev/null
 *                            net       with network: the loopback interface
 *     (the shim: PID 1 of    rootfs    own package, /proc, /work, /tmp, shm
 *     a PID namespace)       ids       the slot's; where runs share an id, a
 *                                      user namespace, to count separately
 *                            pdeathsig SIGKILL at the parent's death
 *                            caps      none
 *   sandbox_leave_to_program() landlock  except files: the rootfs limits files
 *     (the program)          limits    the run's
 *                            filter    last; reports to the shim
 *   sandbox_bound_files()    limits    descriptors, once all are open
 * All layers are needed: a program that is not alone in the namespaces does not
 * run. Only the user namespace may be missing, as root, when the operator allows.
 * The shim loads the filter of the shim after the start of the program.
 */
#ifndef SANDBOX_SANDBOX_PROGRAM_H
#define SANDBOX_SANDBOX_PROGRAM_H

#include "sandbox/rootfs/rootfs.h"
#include "sandbox/sandbox_types.h"

/*
 * As sandbox_build(). 0, or -errno with the layer in *FAILED and, when the
 * layer is the root, the failed path in *AT.
 */
int sandbox_build_program(struct sandbox *sb, unsigned int slots,
			  unsigned int host_ids, struct rootfs *t,
			  enum sandbox_layer *failed, const char **at);

/*
 * As sandbox_enter(), in a worker cloned with sandbox_program_clone. *PROC is
 * the descriptor from rootfs_enter(); fills P->bare.
 */
int sandbox_enter_program(const struct sandbox *sb, struct sandbox_program *p,
			  int *proc, enum sandbox_layer *failed);

/* Returns the descriptor to which the program's filter reports, or -errno. */
int sandbox_leave_to_program(const struct sandbox *sb,
			     const struct sandbox_program *p);

/*
 * As sandbox_leave_to_program(), for the build of a package in a root with a network: the
 * build may connect to hosts, and no call is reported. The only execve(2) that succeeds
 * then is of *PATH, which moves to the address that the filter accepts. 0 or -errno.
 */
int sandbox_leave_to_build(const struct sandbox *sb,
			   const struct sandbox_program *p, const char **path);

/*
 * In the same process, later: limit the number of open descriptors. 0 or
 * -errno.
 */
int sandbox_bound_files(const struct sandbox_program *p);

/* Flags of clone(2) for the namespaces of each program. */
extern const unsigned long sandbox_program_clone;

#endif
