/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - the sandbox of Lua workers, and the order in which it is built.
 *
 * What all workers share is built once, in the zygote, and inherited by
 * clone(2) at no cost; a worker adds what is its own:
 *   sandbox_build()  filter    compile the workers' and the zygote's
 *     (zygote)       limits    those that the zygote can work with
 *                    ns        user, then net, ipc, uts, mnt
 *                    root      empty and read-only
 *                    keyring   an empty session
 *                    caps      bounding set, securebits, no_new_privs
 *                    ids       the zygote's own uid; setuid for its workers
 *                    landlock  after all mounts, which it forbids
 *   sandbox_enter()  fds       the run's socket and /dev/null alone
 *     (worker)       ids       the slot's
 *                    pdeathsig dies with its parent
 *                    limits    the run's
 *                    caps      none
 *   sandbox_seal()   filter    last: nothing can be undone
 *
 * A layer that the machine refuses leaves its error in err[] and the rest is
 * built all the same: the self-test finds out what is missing. A layer that was
 * built once must hold in every worker.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stddef.h>

#include "sandbox/sandbox_types.h"

/*
 * Build what all workers share, for SLOTS of them, with HOST_IDS, around the
 * caller, who is single-threaded and keeps only the capabilities that
 * sandbox_enter() and sandbox_settle() need. 0; or -errno when there is no
 * filter: do not go on.
 */
int sandbox_build(struct sandbox *sb, unsigned int slots,
		  unsigned int host_ids);

/* The keys of the session that started us are not for workers. */
void sandbox_empty_keyring(void);

/* After the self-test: give up what only it needed, and filter ourselves. */
int sandbox_settle(struct sandbox *sb);

/*
 * In a worker just cloned: every layer but the filter. 0, or -errno with the
 * layer in *FAILED; the caller then _exits.
 */
int sandbox_enter(const struct sandbox *sb, const struct sandbox_worker *w,
		  enum sandbox_layer *failed);

/* The filter. 0 or -errno. */
int sandbox_seal(const struct sandbox *sb);

/* "netns", as reports name it. */
const char *sandbox_layer_name(enum sandbox_layer layer);
/* Advice where a cage could not be built because of RC, 0 or -errno. */
const char *sandbox_layer_remedy(enum sandbox_layer layer, int rc);

/*
 * Writes "netns, ipcns: EPERM (what to do)" for each layer of the sandbox that
 * is not in HELD (a bit per layer), separated by "; ", cut at SIZE.
 */
void sandbox_explain(const struct sandbox *sb, uint32_t held, char *text,
		     size_t size);

#endif
