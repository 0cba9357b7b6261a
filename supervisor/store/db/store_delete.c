/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_delete.c - deletes ended runs of a requestor before their expiry: one run, or a
 * few runs of a long list. Called by the operations of store_impl.h. An open run is
 * refused; a run whose files cannot be removed is left for the sweep, and reported.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"

#define LOOKED_AT 128 /* rows in a transaction; other requests wait meanwhile */

static int delete_run(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(
	    s, STMT_STATUS_OF, STORE_STR(r->requestor), STORE_STR(r->id));
	struct store_run *run = NULL;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		run = store_req_row(r);
		run->status = (enum store_status)store_number(st, 0);
	}
	if (rc == 0 && run == NULL)
		store_req_fail(r, -ENOENT, "no such run");
	else if (rc == 0 && run->status <= STORE_RUNNING)
		store_req_fail(r, -EBUSY, "the run has not ended");
	if (rc != 0 || r->decided)
		return rc;
	rc = store_drop_run(s, r->requestor, r->id);
	if (rc == 0)
		store_req_fail(r, -EIO, "a file of the run would not go");
	return rc < 0 ? rc : 0;
}

/* The ids of examined runs to be deleted; R has the id to continue from. */
struct going {
	char id[LOOKED_AT][ID_SIZE];
	size_t n;
};

static int find_deletable(struct store *s, struct store_req *r, struct going *g)
{
	const struct store_filter *f = &r->filter;
	struct store_cursor *st =
	    store_query(s, STMT_LOOK_AT_SOME, STORE_STR(f->requestor),
			STORE_STR(f->from != NULL ? f->from : ""),
			STORE_STR(f->before != NULL ? f->before : ID_AFTER_ALL),
			STORE_NUM(r->time_ms), STORE_STR(f->template_id),
			STORE_NUM(f->status), STORE_NUM(LOOKED_AT + 1));
	int rc, seen = 0;

	while ((rc = store_sql_step(s, st)) == 1) {
		const char *id = store_text(st, 0);

		if (seen++ == LOOKED_AT)
			r->res.next = r->found_text = xstrdup(id);
		else if (store_number(st, 1) != 0)
			snprintf(g->id[g->n++], ID_SIZE, "%s", id);
	}
	return rc;
}

static int delete_ended(struct store *s, struct store_req *r)
{
	struct going g = {.n = 0};
	int rc = find_deletable(s, r, &g);

	for (size_t i = 0; rc >= 0 && i < g.n; i++) {
		rc = store_drop_run(s, r->filter.requestor, g.id[i]);
		if (rc == 1)
			r->res.total++;
		else if (rc == 0)
			snprintf(store_req_row(r)->id, ID_SIZE, "%s", g.id[i]);
	}
	return rc < 0 ? rc : 0;
}

STORE_OP(delete_run, .writes = true);
STORE_OP(delete_ended, .writes = true);
