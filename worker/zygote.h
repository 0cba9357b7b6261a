/* SPDX-License-Identifier: Apache-2.0 */
/* zygote.h - the process that workers are cloned from; see ipc/zygote_proto.h. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#include "sandbox/rootfs/rootfs.h"

#define ZYGOTE_EXIT_UNAVAILABLE 69 /* the cage cannot be built */

enum zygote_kind { ZYGOTE_LUA, ZYGOTE_PROGRAM };

/*
 * Build the cage, test it, report, and clone workers as the supervisor
 * orders until it is gone. TREE is what programs see; its strings are lent.
 * The exit status.
 */
int zygote_run(enum zygote_kind kind, unsigned int host_ids,
	       const struct rootfs *rootfs);

#endif
