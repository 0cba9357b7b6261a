/* SPDX-License-Identifier: Apache-2.0 */
/* empty_root.h - an empty root directory that nothing can be written to. */
#ifndef SANDBOX_EMPTY_ROOT_H
#define SANDBOX_EMPTY_ROOT_H

#include "sandbox/sandbox_types.h"

/*
 * In a mount namespace of our own: a read-only tmpfs without a free inode,
 * pivoted to. Without one: chroot to a deleted folder. 0 or -errno, which is
 * also in err[SANDBOX_ROOT].
 */
int empty_root_enter(struct sandbox *sb);

#endif
