/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - the sandbox of Lua workers, and the order in which the layers are built.
 * The zygote builds the common part of all workers once, and clone(2) inherits
 * the common part at no cost; a worker adds the part of a single run:
 *   sandbox_build()  filter    compile the filters of worker and zygote
 *     (zygote)       limits    limits that the zygote can run with
 *                    ns        user, then net, ipc, uts, mnt
 *                    root      empty and read-only
 *                    keyring   an empty session keyring
 *                    caps      bounding set, securebits, no_new_privs
 *                    ids       the zygote's own uid; setuid for workers
 *                    landlock  after all mounts, which Landlock forbids
 *   sandbox_enter()  fds       the run's socket and /dev/null alone
 *     (worker)       ids       the slot's
 *                    pdeathsig SIGKILL at the parent's death
 *                    limits    the run's
 *                    caps      none
 *   sandbox_seal()   filter    last: after the filter nothing can be undone
 * When the machine refuses a layer, the error stands in err[] and the rest is
 * built all the same: the self-test reports missing layers. A layer that the
 * zygote built must hold in every worker.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stddef.h>

#include "sandbox/sandbox_types.h"

/*
 * Build the common part for SLOTS workers, with the ids HOST_IDS, around the
 * single-threaded caller, which keeps only the capabilities for sandbox_enter()
 * and sandbox_settle(). 0, or -errno without a filter: the caller must exit.
 */
int sandbox_build(struct sandbox *sb, unsigned int slots,
		  unsigned int host_ids);

/*
 * Join an empty session keyring, since workers must not use the keys of the
 * session that started paddockd.
 */
void sandbox_empty_keyring(void);

/*
 * After the self-test: drop the capabilities that only the self-test needed,
 * and load the zygote's filter.
 */
int sandbox_settle(struct sandbox *sb);

/*
 * In a worker right after clone(2): enter every layer but the filter. 0, or
 * -errno with the layer in *FAILED; then the caller must _exit.
 */
int sandbox_enter(const struct sandbox *sb, const struct sandbox_worker *w,
		  enum sandbox_layer *failed);

/* Load the filter. 0 or -errno. */
int sandbox_seal(const struct sandbox *sb, const struct sandbox_worker *w);

/* The name of a layer in reports, for example "netns". */
const char *sandbox_layer_name(enum sandbox_layer layer);
/* Advice for a person when LAYER failed with RC, 0 or -errno. */
const char *sandbox_layer_remedy(enum sandbox_layer layer, int rc);

/*
 * Write "netns, ipcns: EPERM (advice)" for each layer of the sandbox that is
 * not in HELD (a bit per layer), separated by "; ", cut at SIZE.
 */
void sandbox_explain(const struct sandbox *sb, uint32_t held, char *text,
		     size_t size);

#endif
