/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sessions.c - rows of sessions over HTTP, for the store's thread. How
 * many there are is held when one is added: the longest unused go. A key that
 * is not there, or has expired, fails its request alone.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

#define FIELD(name) offsetof(struct store_session, name)

enum {
	COL_KEY,
	COL_REQUESTOR,
	COL_CREDENTIAL,
	COL_REVISION,
	COL_CLIENT,
	COL_URIS,
	COL_LOG_LEVEL,
	COL_USED,
	COL_EXPIRES
};

static const struct store_field texts[] = {
    {COL_KEY, FIELD(key)},
    {COL_REQUESTOR, FIELD(requestor)},
    {COL_CREDENTIAL, FIELD(credential)},
    {COL_REVISION, FIELD(revision)},
    {COL_CLIENT, FIELD(client)},
    {COL_URIS, FIELD(uris)},
};

static int write_row(struct store *s, enum store_stmt which,
		     const struct store_session *row)
{
	return store_sql_step(
	    s,
	    store_query(s, which, STORE_STR(row->key),
			STORE_STR(row->requestor), STORE_STR(row->credential),
			STORE_STR(row->revision), STORE_STR(row->client),
			STORE_STR(row->uris), STORE_NUM(row->log_level),
			STORE_NUM(row->used_ms), STORE_NUM(row->expires_ms)));
}

/* WHICH, with TEXT for what it asks for. */
static int change(struct store *s, enum store_stmt which, const char *text)
{
	return store_sql_step(s, store_query(s, which, STORE_STR(text)));
}

static int put_session(struct store *s, struct store_req *r)
{
	int rc = write_row(s, STMT_CHANGE_SESSION, &r->session);

	if (rc != 0 || sqlite3_changes(s->db) > 0)
		return rc;
	rc = write_row(s, STMT_ADD_SESSION, &r->session);
	if (rc == 0)
		rc = change(s, STMT_TRIM_SESSIONS_OF, r->session.requestor);
	if (rc == 0)
		rc = store_sql_run(s, STMT_TRIM_SESSIONS);
	return rc;
}

static int get_session(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st = store_query(s, STMT_GET_SESSION, STORE_STR(r->key),
				       STORE_NUM(r->time_ms));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		free(r->found_text);
		r->found_text = store_read_texts(st, &r->found_session, texts,
						 ARRAY_LEN(texts));
		r->found_session.log_level =
		    sqlite3_column_int(st, COL_LOG_LEVEL);
		r->found_session.used_ms = sqlite3_column_int64(st, COL_USED);
		r->found_session.expires_ms =
		    sqlite3_column_int64(st, COL_EXPIRES);
		r->res.session = &r->found_session;
	}
	if (rc == 0 && r->res.session == NULL)
		store_req_fail(r, -ENOENT, "no such session");
	return rc;
}

static int drop_session(struct store *s, struct store_req *r)
{
	return change(s, STMT_DROP_SESSION, r->key);
}

static int drop_sessions(struct store *s, struct store_req *r)
{
	return change(s, STMT_DROP_SESSIONS, r->requestor);
}

const struct store_op store_op_put_session = {
    .name = "put_session", .writes = true, .exec = put_session};
const struct store_op store_op_get_session = {.name = "get_session",
					      .exec = get_session};
const struct store_op store_op_drop_session = {
    .name = "drop_session", .writes = true, .exec = drop_session};
const struct store_op store_op_drop_sessions = {
    .name = "drop_sessions", .writes = true, .exec = drop_sessions};
