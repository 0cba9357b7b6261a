/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_types.h - the state of a sandbox, which its steps fill in. */
#ifndef SANDBOX_SANDBOX_TYPES_H
#define SANDBOX_SANDBOX_TYPES_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/os/sandbox_layer.h"

struct sandbox {
	uint32_t layers;	 /* a bit for each that this sandbox has */
	int err[SANDBOX_LAYERS]; /* 0, or -errno: why it could not be built */
	unsigned int slots;	 /* workers that may live at once */
	unsigned int host_ids;	 /* the first of slots + 1 ids that the host
				    keeps for us alone; 0: there are none */
	bool host_network;	 /* asked for: no network namespace */
	bool own_ids;		 /* each slot has a uid and gid of its own */
	unsigned int first_id;	 /* slot 0's, inside */
	int uid_base;		 /* slot 0's, on the host; or -1 */
	int landlock_abi;	 /* 0: none */
	uint64_t bare_bytes;	 /* address space of a worker without a run */
	struct sock_fprog worker_filter;
	struct sock_fprog zygote_filter;
	struct sock_fprog clone_filter;	  /* a worker's, above the zygote's */
	bool settled;			  /* the zygote's filter is in force */
	struct sock_fprog program_filter; /* instead of the zygote's */
	/* with it, where inodes are shared */
	struct sock_fprog no_locks_filter;
};

/* What one worker gets. */
struct sandbox_worker {
	int run_fd;	   /* its end of the run's socket, wherever it is now */
	unsigned int slot; /* below slots */
	uint64_t cpu_ms;   /* at least 1 */
	uint64_t memory_bytes;
};

/* What one program gets. */
struct sandbox_program {
	struct sandbox_worker w;
	size_t package; /* index into struct rootfs */
	uint64_t reads; /* a bit for each of its reads */
	struct program_limits limits;
	uint64_t start_cpu_ms; /* beside its run's, if it is started ahead */
	bool grouped;	       /* a cgroup counts its memory */
	bool locks;	       /* locks on files that it may read are granted */
	bool in;	       /* it has in/, with these; lent */
	const struct shown_file *files;
	size_t n_files;
	int in_fd; /* out: in/ as it can be written, or -1 */
	uint64_t
	    missing; /* out: a bit for each of the files that is not there */
	bool bare;   /* out: it sees inodes of others, so it may lock none */
	/* a socket that its mount namespace is sent to, and that is closed; 0: none */
	int hold_fd;
};

#define SANDBOX_RUN_FD 3 /* where sandbox_enter() puts run_fd */
#define SANDBOX_UTS_NAME "paddock"

#endif
