/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_mounts.h - mount namespaces that outlive their shims. Unmounting a program's view
 * takes a millisecond, and delays the reaping of a process; so a child of the zygote
 * unmounts after the supervisor has the run's end. The caller has no other children.
 */
#ifndef WORKER_HELD_MOUNTS_H
#define WORKER_HELD_MOUNTS_H

#include <stdint.h>

/*
 * Make the socket to which worker SEQ of SLOT (below ZYGOTE_PROTO_SLOTS) sends the mount
 * namespace; the caller owns the socket; 0: failed. Drops the namespace of an earlier
 * worker in SLOT.
 */
int held_mounts_open(uint32_t slot, uint32_t seq);

/* Drop the namespace of worker SEQ of SLOT, if held. */
void held_mounts_release(uint32_t slot, uint32_t seq);

#endif
