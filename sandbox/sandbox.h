/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - the cage, and the order in which it is built.
 *
 * What all workers share is built once, in the zygote, and inherited over
 * fork at no cost; what belongs to one worker is added at its birth:
 *
 *   sandbox_build()  filter    compile the workers' and the zygote's
 *     (zygote)       limits    those that a zygote can live with
 *                    ns        user, then net, ipc, uts, mnt
 *                    root      empty and read-only
 *                    keyring   an empty session
 *                    caps      bounding set, securebits, no_new_privs
 *                    ids       the zygote's own uid; setuid for its workers
 *                    landlock  after all mounts: it forbids them
 *   sandbox_enter()  fds       the run's socket and null, nothing else
 *     (worker)       ids       the slot's
 *                    orphans   dies with its parent
 *                    limits    the run's
 *                    caps      none
 *   sandbox_seal()   filter    last: no way back
 *
 * A layer that the machine refuses leaves its error in err[] and the rest is
 * built all the same: whoever measures the cage afterwards says what is
 * missing. A layer that was built once must hold in every worker.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sandbox_layer {
	SANDBOX_SECCOMP,
	SANDBOX_NNP,
	SANDBOX_CAPS,
	SANDBOX_USERNS,
	SANDBOX_NETNS,
	SANDBOX_IPCNS,
	SANDBOX_UTSNS,
	SANDBOX_MNTNS,
	SANDBOX_ROOT,
	SANDBOX_UID,
	SANDBOX_LANDLOCK,
	SANDBOX_RLIMITS,
	SANDBOX_CLOSED,
	SANDBOX_EMPTY_ENV,
	SANDBOX_UNDUMPABLE,
	SANDBOX_PDEATHSIG,
	SANDBOX_PIDNS, /* a program's alone */
	SANDBOX_LAYERS
};

struct sandbox {
	uint32_t layers;	 /* a bit for each that this cage has */
	int err[SANDBOX_LAYERS]; /* 0, or the -errno met while building */
	unsigned int slots;	 /* workers that may live at once */
	unsigned int host_ids;	 /* the first of slots + 1 ids that the host
				    keeps for us alone; 0: there are none */
	bool own_ids;		 /* each slot has a uid and gid of its own */
	unsigned int first_id;	 /* slot 0's, as the cage counts */
	int uid_base;		 /* slot 0's, as the host counts; or -1 */
	int landlock_abi;	 /* 0: none */
	uint64_t bare_bytes;	 /* address space of a worker without a run */
	struct sock_fprog worker_filter;
	struct sock_fprog zygote_filter;
	struct sock_fprog clone_filter;	  /* a worker's, above the zygote's */
	bool settled;			  /* the zygote's is in force */
	struct sock_fprog program_filter; /* instead of the zygote's */
	struct sock_fprog
	    no_locks_filter; /* with it, where inodes are shared */
};

/* What one worker gets. */
struct sandbox_worker {
	int run_fd;	   /* its end of the run's socket, wherever it is now */
	unsigned int slot; /* below slots */
	uint64_t cpu_ms;   /* at least 1 */
	uint64_t memory_bytes;
};

#define SANDBOX_BIT(layer) (UINT32_C(1) << (layer))

#define SANDBOX_RUN_FD 3 /* where sandbox_enter() puts run_fd */
#define SANDBOX_UTS_NAME "paddock"

/*
 * Build what all workers share, for SLOTS of them, with HOST_IDS, around the caller, who is
 * single-threaded and keeps just the capabilities that sandbox_enter() and
 * sandbox_settle() need. 0; or -errno when there is no filter: do not go on.
 */
int sandbox_build(struct sandbox *sb, unsigned int slots,
		  unsigned int host_ids);

/* Keys of the session that started us are not for workers. */
void sandbox_empty_keyring(void);

/* The self-test is over: give up what only it needed, and filter ourselves. */
int sandbox_settle(struct sandbox *sb);

/*
 * In a worker just cloned: everything but the filter. 0, or -errno with the
 * step in *FAILED; the caller then _exits.
 */
int sandbox_enter(const struct sandbox *sb, const struct sandbox_worker *w,
		  enum sandbox_layer *failed);

/* The filter. 0 or -errno. */
int sandbox_seal(const struct sandbox *sb);

/* "netns", as reports name it. */
const char *sandbox_layer_name(enum sandbox_layer layer);
const char *sandbox_layer_remedy(enum sandbox_layer layer); /* what to do */

/*
 * Writes "netns, ipcns: EPERM (what to do)" for each layer that is not in
 * HELD (a bit per layer) and belongs to the cage, separated by "; ", cut at SIZE.
 */
void sandbox_explain(const struct sandbox *sb, uint32_t held, char *text,
		     size_t size);

#endif
