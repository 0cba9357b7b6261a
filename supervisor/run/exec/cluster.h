/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - the functions that exist because several machines may share a database:
 * a table, which supervisor/cluster/ fills and the rest of the supervisor calls by
 * ctx->cluster. On one machine the pointer is NULL, and no function is called.
 */
#ifndef SUPERVISOR_EXEC_CLUSTER_H
#define SUPERVISOR_EXEC_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

struct requestor;
struct run;
struct runs;
struct store_letter;
struct store_run;
struct template;

struct cluster {
	/* Make the state in RUNS; first, when RUNS are made. */
	void (*init)(struct runs *s);
	/* The first request to the store has begun: take part in the cluster. */
	void (*open)(struct runs *s);
	/* Free the state in RUNS, of which no run is left. */
	void (*fini)(struct runs *s);

	/* Has this server the lease, by which runs begin and go on? */
	bool (*has_lease)(const struct runs *s);
	/*
	 * May a new run with the idempotency KEY (NULL: no key) start at once? Else the
	 * run has to be in the shared queue first.
	 */
	bool (*may_start)(const struct runs *s, const char *key);
	/* Put the new run R, which waits here, into the shared queue by R's first row. */
	void (*set_aside)(struct runs *s, struct run *r);
	/* Leave R to other servers: R's next row puts R into the shared queue. */
	void (*leave)(struct runs *s, struct run *r);
	/* R's first row is written, by the result RC. False: R is no more. */
	bool (*queued)(struct runs *s, struct run *r, int rc);
	/* Look soon: runs may have come to the shared queue, or may start again. */
	void (*wake)(struct runs *s);
	/* Claim the next runs of the shared queue, as far as there is room. */
	void (*claim)(struct runs *s);
	/* Tell other servers what this server runs, after a reload. */
	void (*serve)(struct runs *s);
	/* The server ends soon: leave all runs that wait to other servers. */
	void (*hand_over)(struct runs *s);

	/*
	 * Did R, whose worker is gone, end with the lease? Then R stays open until it is
	 * known whether another server has R.
	 */
	bool (*keeps)(struct runs *s, struct run *r);
	/* The store refused R's end, for R is another server's: follow R's row. */
	void (*disowned)(struct runs *s, struct run *r);
	/* Ask the server that has R, or the shared queue, to cancel R. */
	int (*cancel)(struct runs *s, struct run *r);
	/*
	 * Return the run of ROW, which another server has, for a watcher that is added
	 * at once. The run's template is T, of which a reference is kept. NULL: the run
	 * has come here since, or has ended. The result is *lent*.
	 */
	struct run *(*visit)(struct runs *s, struct requestor *requestor,
			     struct template *t, const struct store_run *row);
	/* Return the number of remote runs for which no client here waits. */
	size_t (*unwatched)(const struct runs *s);

	/* The letter L came about the open run R (NULL: an unknown or ended run). */
	void (*letter)(struct runs *s, struct run *r,
		       const struct store_letter *l);
	/* All letters of other servers have been read and followed. */
	void (*letters_read)(struct runs *s);
};

#endif
