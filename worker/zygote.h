/* SPDX-License-Identifier: Apache-2.0 */
/* zygote.h - the process that workers are cloned from; see ipc/zygote_proto.h. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#include "ipc/runtime.h"
#include "sandbox/rootfs/rootfs.h"
#include "worker/clone.h"

#define ZYGOTE_EXIT_UNAVAILABLE 69 /* the sandbox cannot be built */

/* What a zygote's workers run; of the last two it has the one of its kind. */
struct zygote_runtime {
	enum runtime kind;
	int (*prepare)(void); /* in the zygote, before its sandbox; 0, -errno */
	void (*serve)(void);  /* in a Lua worker, whose filter is in force */
	clone_program_life *serve_program; /* in a shim, which loads its own */
};

/*
 * Build the sandbox, test it, report, and clone workers for RUNTIME as the
 * supervisor requests until it is gone. ROOTFS is what programs see; its
 * strings are lent. The exit status.
 */
int zygote_run(const struct zygote_runtime *runtime, unsigned int host_ids,
	       const struct rootfs *rootfs);

#endif
