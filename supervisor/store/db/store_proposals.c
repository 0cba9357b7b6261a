/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_proposals.c - rows of proposed grants, for the store's thread. The rows are few
 * and small: a proposal beyond the bounds fails alone.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

#define COLUMN(what, field) STORE_COLUMN(what, store_proposal, field)

/* the columns PROPOSAL of store_statements.def */
static const struct store_column columns[] = {
    COLUMN(ID, id),
    COLUMN(TEXT, requestor),
    COLUMN(TEXT, template_id),
    COLUMN(TEXT, digest),
    COLUMN(TEXT, body),
    COLUMN(TIME, made_ms),
    COLUMN(TIME, expires_ms),
    COLUMN(TIME, approved_ms),
};

/* Read the rows of ST into R's result. 0 or -errno. */
static int read_rows(struct store *s, struct store_req *r,
		     struct store_cursor *st)
{
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		size_t n = r->res.n_proposals++;

		r->proposals =
		    xrealloc(r->proposals, (n + 1) * sizeof(*r->proposals));
		r->proposals[n] = (struct store_proposal){0};
		r->proposals[n].text = store_read_row(
		    st, &r->proposals[n], columns, ARRAY_LEN(columns));
	}
	r->res.proposals = r->proposals;
	return rc;
}

static int list_proposals(struct store *s, struct store_req *r)
{
	return read_rows(s, r,
			 store_query(s, STMT_LIST_PROPOSALS,
				     STORE_STR(r->requestor), STORE_STR(r->id),
				     STORE_NUM(r->time_ms)));
}

/* A known proposal stays as before; the result has the row. */
static int add_proposal(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_sql(s, STMT_ADD_PROPOSAL);
	int rc;

	store_bind_row(st, 1, &r->proposal, columns, ARRAY_LEN(columns));
	rc = store_sql_step(s, st);
	if (rc == 0)
		rc = read_rows(s, r,
			       store_query(s, STMT_LIST_PROPOSALS,
					   STORE_STR(r->proposal.requestor),
					   STORE_STR(r->proposal.id),
					   STORE_NUM(r->proposal.made_ms)));
	if (rc == 0 && r->res.n_proposals == 0)
		store_req_fail(r, -EDQUOT, "too many proposals wait");
	return rc;
}

static int end_proposal(struct store *s, struct store_req *r)
{
	int rc = r->time_ms > 0
		     ? store_change(s, STMT_APPROVE_PROPOSAL, STORE_STR(r->id),
				    STORE_NUM(r->time_ms))
		     : store_change(s, STMT_DROP_PROPOSAL, STORE_STR(r->id));

	if (rc == 0 && s->engine->changes(s) == 0)
		store_req_fail(r, -ENOENT, "no such proposal");
	return rc;
}

STORE_OP(add_proposal, .writes = true);
STORE_OP(list_proposals);
STORE_OP(end_proposal, .writes = true);
