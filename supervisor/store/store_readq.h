/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_readq.h - large reads wait in turns by requestor, so that the reads of
 * one requestor delay another requestor by a few reads alone. store.c calls it
 * on the caller's thread.
 */
#ifndef SUPERVISOR_STORE_STORE_READQ_H
#define SUPERVISOR_STORE_STORE_READQ_H

#include <stdbool.h>
#include <uthash.h>

#include "supervisor/store/store_impl.h"

#define STORE_READS_EACH 8 /* of one requestor in the queue at a time */

struct store_lane {
	size_t n; /* its reads that were let in, and are not told */
	struct store_reqs waiting;
	UT_hash_handle hh; /* in the table of lanes, by name */
	char name[];
};

/* R, new, may go to the queue; false: it waits in *LANES. */
bool store_readq_enter(struct store_lane **readqs, struct store_req *r);
/* R is about to be told: the next of its lane, for the queue; or NULL. */
struct store_req *store_readq_leave(struct store_lane **readqs,
				    struct store_req *r);

#endif
