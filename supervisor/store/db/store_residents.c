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

/* ---- a node for a resident ---- */

/* Read the text of the last row of ST into R. Returns the number of rows, or an error. */
static int read_text(struct store *s, struct store_req *r,
		     struct store_cursor *st)
{
	int rows = 0, rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		rows++;
		free(r->found_text);
		r->found_text = st->engine->is_null(st, 0)
				    ? NULL
				    : xstrdup(store_text(st, 0));
	}
	return rc == 0 ? rows : rc;
}

/* Ask the node of RESIDENT for the end, so that R has room at a later attempt. */
static int evict(struct store *s, struct store_req *r, const char *resident)
{
	int rc = read_text(s, r,
			   store_query(s, STMT_EVICT_RESIDENT,
				       STORE_STR(r->requestor),
				       STORE_STR(resident)));

	if (rc >= 0)
		store_req_fail(r, -EINPROGRESS, "%s ends for %s", resident,
			       r->id);
	return rc < 0 ? rc : 0;
}

/* Every resident that was asked to end has refused: each may be asked by the next. */
static int refuse(struct store *s, struct store_req *r)
{
	int rc =
	    store_change(s, STMT_RESIDENTS_REFUSE, STORE_STR(r->requestor));

	if (rc == 0)
		store_req_fail(r, -EDQUOT, "all residents of %s are in use",
			       r->requestor);
	return rc;
}

/* The resident of R has no node here: find why, and make room. */
static int make_room(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_RESIDENTS_FULL, RESIDENT, STORE_NUM(r->limit));
	bool is_elsewhere = false, is_awaited = false;
	char *oldest = NULL;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		is_elsewhere = store_number(st, 0) != 0;
		is_awaited = store_number(st, 1) != 0;
		if (!st->engine->is_null(st, 2))
			oldest = xstrdup(store_text(st, 2));
	}
	if (rc == 0 && is_elsewhere)
		store_req_fail(r, -EREMOTE, "%s lives on another node", r->id);
	else if (rc == 0 && is_awaited)
		store_req_fail(r, -EINPROGRESS, "%s waits for room", r->id);
	else if (rc == 0)
		rc = oldest != NULL ? evict(s, r, oldest) : refuse(s, r);
	free(oldest);
	return rc;
}

static int home_resident(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_LOCK_RESIDENTS, STORE_STR(r->requestor));
	bool is_locked = false;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		is_locked = store_number(st, 0) != 0;
	if (rc != 0)
		return rc;
	if (!is_locked) {
		store_req_fail(r, -EINPROGRESS, "another node counts");
		return 0;
	}
	rc = read_text(
	    s, r,
	    store_query(s, STMT_HOME_RESIDENT, RESIDENT, STORE_NUM(r->limit)));
	r->res.text = r->found_text;
	return rc == 0 ? make_room(s, r) : rc < 0 ? rc : 0;
}

static void wake_asked(struct store *s, struct store_req *r)
{
	if (r->res.rc != 0 && r->found_text != NULL)
		store_wake_node(s, r->found_text);
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
	int rc = read_text(s, r, store_query(s, STMT_END_RESIDENT, RESIDENT));

	if (rc == 0)
		store_req_fail(r, -ENOENT, "no such resident");
	return rc < 0 ? rc : 0;
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

STORE_OP(home_resident, .writes = true, .ours = true, .keep = wake_asked);
STORE_OP(leave_resident, .writes = true, .ours = true, .ends = true);
STORE_OP(show_resident, .writes = true, .ours = true);
STORE_OP(list_residents);
STORE_OP(end_resident, .writes = true, .keep = wake_home);
STORE_OP(keep_resident, .writes = true, .ours = true);
STORE_OP(resident_ends);
