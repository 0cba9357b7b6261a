/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_nodes.c - lists the servers that share a database, by their heartbeats,
 * for store_nodes(). Without such a database the list is empty. A failure fails
 * the batch.
 */
#include "supervisor/store/store_impl.h"

#include "base/mem.h"

static int nodes(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_sql(s, STMT_NODES);
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		size_t n = r->res.n_nodes++;

		r->nodes = xrealloc(r->nodes, (n + 1) * sizeof(*r->nodes));
		r->nodes[n] = (struct store_node){
		    .id = xstrdup(store_text(st, 0)),
		    .name = xstrdup(store_text(st, 1)),
		    .version = xstrdup(store_text(st, 2)),
		    .started_ms = store_number(st, 3),
		    .load = {.running = (size_t)store_number(st, 4),
			     .queued = (size_t)store_number(st, 5),
			     .draining = store_number(st, 6) != 0},
		    .silent_ms = store_number(st, 7),
		};
	}
	r->res.nodes = r->nodes;
	return rc;
}

STORE_OP(nodes);
