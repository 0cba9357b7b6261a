/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_mounts.h - mount namespaces that outlive their shims. To take down what a
 * program looked at takes a millisecond, and a process is not reaped before it
 * has been done; so a child of the zygote does it, when the supervisor has the run's
 * end. The caller has no other children.
 */
#ifndef WORKER_HELD_MOUNTS_H
#define WORKER_HELD_MOUNTS_H

#include <stdint.h>

/*
 * The socket to which worker SEQ of SLOT (below ZYGOTE_PROTO_SLOTS) sends its
 * namespace, the caller's; or 0: there is none to be had. What was held of an
 * earlier worker in SLOT is let go.
 */
int held_mounts_open(uint32_t slot, uint32_t seq);

/* Let go of what worker SEQ of SLOT sent, if that is held. */
void held_mounts_release(uint32_t slot, uint32_t seq);

#endif
