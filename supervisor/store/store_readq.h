/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_readq.h - large reads wait in turns by requestor, so that the reads of
 * a requestor delay other requestors by a few reads at most. store.c calls the
 * functions on the caller's thread.
 */
#ifndef SUPERVISOR_STORE_STORE_READQ_H
#define SUPERVISOR_STORE_STORE_READQ_H

#include <stdbool.h>
#include <uthash.h>

#include "supervisor/store/store_impl.h"

#define STORE_READS_EACH 8 /* of a requestor in the queue at a time */

struct store_lane {
	size_t n; /* admitted reads whose callback has not run yet */
	struct store_reqs waiting;
	UT_hash_handle hh; /* in the table of lanes, by name */
	char name[];
};

/* May the new request R enter the queue? False: R waits in *LANES. */
bool store_readq_enter(struct store_lane **readqs, struct store_req *r);
/* R is about to be answered: the next request of the lane, for the queue; or NULL. */
struct store_req *store_readq_leave(struct store_lane **readqs,
				    struct store_req *r);

#endif
