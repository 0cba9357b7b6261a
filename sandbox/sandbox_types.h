/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_types.h - the state of a sandbox, which the layers fill in. */
#ifndef SANDBOX_SANDBOX_TYPES_H
#define SANDBOX_SANDBOX_TYPES_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/os/sandbox_layer.h"

struct sandbox {
	uint32_t layers;	 /* a bit for each layer of this sandbox */
	int err[SANDBOX_LAYERS]; /* for each layer 0, or -errno of the build */
	unsigned int slots;	 /* workers at once */
	/*
	 * first of slots + 1 ids of the host that are reserved for this server; 0: none
	 */
	unsigned int host_ids;
	bool host_network;     /* no network namespace was requested */
	bool own_ids;	       /* each slot has a separate uid and gid */
	unsigned int first_id; /* of slot 0, inside the namespace */
	int uid_base;	       /* of slot 0, on the host; or -1 */
	int landlock_abi;      /* 0: no Landlock */
	uint64_t bare_bytes;   /* address space of a worker without a run */
	struct sock_fprog worker_filter;
	struct sock_fprog zygote_filter;
	struct sock_fprog clone_filter;	  /* of a worker, above the zygote's */
	struct sock_fprog stream_filter;  /* of a worker with network */
	bool settled;			  /* the zygote's filter is in force */
	struct sock_fprog program_filter; /* instead of the zygote's */
	struct sock_fprog network_filter; /* or, of a program with network */
	/* in addition to program_filter, where inodes are shared */
	struct sock_fprog no_locks_filter;
};

/* Parameters of a worker. */
struct sandbox_worker {
	/* the worker's end of the run's socket, at any number */
	int run_fd;
	unsigned int slot; /* below sandbox.slots */
	uint64_t cpu_ms;   /* at least 1 */
	uint64_t memory_bytes;
	bool network; /* a Lua worker keeps SANDBOX_CAGE_FD */
};

/* Parameters of a program. */
struct sandbox_program {
	struct sandbox_worker w;
	size_t package; /* index into struct rootfs */
	uint64_t reads; /* a bit for each path to read */
	struct program_limits limits;
	/* CPU time before the run, for a program started ahead */
	uint64_t start_cpu_ms;
	bool grouped; /* a cgroup counts the memory */
	bool divided; /* cgroups divide CPU time among runs */
	bool locks;   /* locks on readable files are granted */
	bool network; /* the program may connect, within its own namespace */
	bool in;      /* the folder in/ exists, with FILES; lent */
	const struct shown_file *files;
	size_t n_files;
	int in_fd;	  /* out: a writable descriptor of in/, or -1 */
	uint64_t missing; /* out: a bit for each missing file */
	/* out: inodes of other runs are visible, so locks are forbidden */
	bool bare;
	/* socket to send the mount namespace to, and then close; 0: none */
	int hold_fd;
};

#define SANDBOX_RUN_FD 3 /* number of run_fd after sandbox_enter() */
/* the stream of a Lua worker to the run's child of paddock-egress */
#define SANDBOX_CAGE_FD 4
#define SANDBOX_UTS_NAME "paddock"
/*
 * The port of the only socket to which a program with network connects, on loopback of a
 * network namespace in which nothing else listens
 */
#define SANDBOX_PROXY_PORT 3128

#endif
