/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_used.c - reads the use by runs, in sums that triggers keep by the hour
 * (store_sqlite_schema.c), so that the cost does not grow with the number of
 * runs. Called by the operations of store_impl.h; a failure fails the batch.
 */
#include "supervisor/store/store_impl.h"

#include "base/mem.h"

static int used(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(
	    s, r->requestor != NULL ? STMT_USED : STMT_USED_BY_ALL,
	    STORE_STR(r->requestor), STORE_NUM(r->time_ms / STORE_USE_HOUR_MS),
	    STORE_NUM(STORE_USES_MAX));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		size_t n = r->res.n_uses++;

		r->uses = xrealloc(r->uses, (n + 1) * sizeof(*r->uses));
		r->uses[n] = (struct store_use){
		    .requestor = xstrdup(store_text(st, 0)),
		    .template_id = xstrdup(store_text(st, 1)),
		    .runs = store_number(st, 2),
		    .cpu_ms = store_number(st, 3),
		    .bytes = store_number(st, 4),
		};
	}
	r->res.uses = r->uses;
	return rc;
}

STORE_OP(used);
