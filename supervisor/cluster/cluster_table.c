/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_table.c - the table by which the core calls this folder, and the state of one
 * server in its cluster. server.c sets ctx->cluster to the table where the store is
 * shared. Nothing here fails.
 */
#include "supervisor/cluster/cluster_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "supervisor/cluster/cluster_private.h"

static void init(struct runs *s)
{
	s->cluster = xcalloc(1, sizeof(*s->cluster));
	shared_queue_init(s);
	limit_shares_init(s);
	remote_runs_init(s);
}

static void open_all(struct runs *s)
{
	shared_queue_open(s);
	limit_shares_open(s);
	lease_open(s);
}

static void fini(struct runs *s)
{
	lease_fini(s);
	remote_runs_fini(s);
	limit_shares_fini(s);
	shared_queue_fini(s);
	free(s->cluster);
	s->cluster = NULL;
}

const struct cluster cluster_table = {
    .init = init,
    .open = open_all,
    .fini = fini,
    .has_lease = lease_holds,
    .may_start = shared_queue_may_start,
    .set_aside = shared_queue_set_aside,
    .leave = shared_queue_leave,
    .queued = shared_queue_queued,
    .wake = shared_queue_wake,
    .claim = shared_queue_claim,
    .serve = shared_queue_serve,
    .hand_over = shared_queue_hand_over,
    .keeps = lease_keeps,
    .disowned = remote_runs_disowned,
    .cancel = remote_runs_cancel,
    .visit = remote_runs_visit,
    .unwatched = remote_runs_unwatched,
    .letter = remote_runs_letter,
    .letters_read = lease_letters_read,
};
