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

#include <stddef.h>

#include "sandbox/sandbox_types.h"

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
