/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_residents.c - rows of residents, by which the nodes of a shared database know where
 * each lives. Called by the operations of store_impl.h; without a shared database no row
 * exists. A failure fails the batch.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

/* The parameters that all statements on one resident begin with. */
#define RESIDENT                                                               \
	STORE_STR(r->requestor), STORE_STR(r->id), STORE_STR(s->instance)

static int home_resident(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(s, STMT_HOME_RESIDENT, RESIDENT);
	bool is_mine = false;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		is_mine = true;
		free(r->found_text);
		r->found_text = st->engine->is_null(st, 0)
				    ? NULL
				    : xstrdup(store_text(st, 0));
	}
	r->res.text = r->found_text;
	if (rc == 0 && !is_mine)
		store_req_fail(r, -EREMOTE, "%s lives on another node", r->id);
	return rc;
}

static int leave_resident(struct store *s, struct store_req *r)
{
	int rc;

	if (r->key == NULL)
		return store_change(s, STMT_FORGET_RESIDENT, RESIDENT);
	rc = store_change(s, STMT_LOSE_RESIDENT, RESIDENT, STORE_STR(r->key));
	return rc != 0 ? rc
		       : store_change(s, STMT_TRIM_RESIDENTS,
				      STORE_STR(r->requestor));
}

static int show_resident(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_SHOW_RESIDENT, RESIDENT, STORE_STR(r->key));
}

static int list_residents(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_LIST_RESIDENTS, STORE_STR(r->requestor),
			STORE_STR(s->instance));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		size_t n = r->res.n_residents++;

		r->residents =
		    xrealloc(r->residents, (n + 1) * sizeof(*r->residents));
		r->residents[n] =
		    (struct store_resident){.view = xstrdup(store_text(st, 0)),
					    .node = xstrdup(store_text(st, 1))};
	}
	r->res.residents = r->residents;
	return rc;
}

/* ---- the end of a resident on another node ---- */

static int end_resident(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(s, STMT_END_RESIDENT, RESIDENT);
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		free(r->found_text);
		r->found_text = xstrdup(store_text(st, 0));
	}
	if (rc == 0 && r->found_text == NULL)
		store_req_fail(r, -ENOENT, "no such resident");
	return rc;
}

static void wake_home(struct store *s, struct store_req *r)
{
	if (r->found_text != NULL)
		store_wake_node(s, r->found_text);
}

static int keep_resident(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_KEEP_RESIDENT, RESIDENT);
}

static int resident_ends(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_IS_RESIDENT_ENDING, RESIDENT);
	int ending = -1, rc;

	while ((rc = store_sql_step(s, st)) == 1)
		ending = store_number(st, 0) != 0;
	if (rc == 0 && ending >= 0)
		store_req_fail(r, ending ? -EINPROGRESS : -EBUSY,
			       "%s is on its node", r->id);
	return rc;
}

STORE_OP(home_resident, .writes = true, .ours = true);
STORE_OP(leave_resident, .writes = true, .ours = true, .ends = true);
STORE_OP(show_resident, .writes = true, .ours = true);
STORE_OP(list_residents);
STORE_OP(end_resident, .writes = true, .keep = wake_home);
STORE_OP(keep_resident, .writes = true, .ours = true);
STORE_OP(resident_ends);
