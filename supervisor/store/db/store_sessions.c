/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sessions.c - rows of sessions over HTTP, for the store's thread. Adding
 * a row deletes the longest unused rows beyond the bound. A request with a
 * missing or expired key fails alone.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

#define COLUMN(what, field) STORE_COLUMN(what, store_session, field)

/* the columns SESSION of store_statements.def */
static const struct store_column columns[] = {
    COLUMN(TEXT, key),	    COLUMN(TEXT, requestor), COLUMN(TEXT, credential),
    COLUMN(TEXT, revision), COLUMN(TEXT, client),    COLUMN(TEXT, uris),
    COLUMN(INT, log_level), COLUMN(TIME, used_ms),   COLUMN(TIME, expires_ms),
};

static int write_row(struct store *s, enum store_stmt which,
		     const struct store_session *row)
{
	struct store_cursor *st = store_sql(s, which);

	store_bind_row(st, 1, row, columns, ARRAY_LEN(columns));
	return store_sql_step(s, st);
}

static int put_session(struct store *s, struct store_req *r)
{
	int rc = write_row(s, STMT_CHANGE_SESSION, &r->session);

	if (rc != 0 || s->engine->changes(s) > 0 || r->session.was_there)
		return rc;
	rc = write_row(s, STMT_ADD_SESSION, &r->session);
	if (rc == 0)
		rc = store_change(s, STMT_TRIM_SESSIONS_OF,
				  STORE_STR(r->session.requestor));
	if (rc == 0)
		rc = store_sql_run(s, STMT_TRIM_SESSIONS);
	return rc;
}

static int get_session(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(
	    s, STMT_GET_SESSION, STORE_STR(r->key), STORE_NUM(r->time_ms));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		free(r->found_text);
		r->found_text = store_read_row(st, &r->found_session, columns,
					       ARRAY_LEN(columns));
		r->res.session = &r->found_session;
	}
	if (rc == 0 && r->res.session == NULL)
		store_req_fail(r, -ENOENT, "no such session");
	return rc;
}

static int drop_session(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_DROP_SESSION, STORE_STR(r->key));
}

static int drop_sessions(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_DROP_SESSIONS, STORE_STR(r->requestor));
}

STORE_OP(put_session, .writes = true);
STORE_OP(get_session, .goes_ahead = true);
STORE_OP(drop_session, .writes = true);
STORE_OP(drop_sessions, .writes = true);
