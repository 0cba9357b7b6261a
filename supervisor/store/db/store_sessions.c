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
#include <string.h>

#include "base/mem.h"

#define FIELD(name) offsetof(struct store_session, name)

enum { COL_LOG_LEVEL = 6, COL_USED, COL_EXPIRES };

static const size_t texts[] = {
    /* the columns before these, in order */
    FIELD(key),	     FIELD(requestor), FIELD(credential),
    FIELD(revision), FIELD(client),    FIELD(uris),
};

static int write_row(struct store *s, enum store_stmt which,
		     const struct store_session *row)
{
	sqlite3_stmt *st = store_sql(s, which);

	if (st == NULL)
		return store_sql_failed(s);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		store_bind_text(
		    st, (int)i + 1,
		    *(const char *const *)((const char *)row + texts[i]));
	sqlite3_bind_int(st, COL_LOG_LEVEL + 1, row->log_level);
	sqlite3_bind_int64(st, COL_USED + 1, row->used_ms);
	sqlite3_bind_int64(st, COL_EXPIRES + 1, row->expires_ms);
	return store_sql_step(s, st);
}

/* WHICH, with TEXT for what it asks for, if it asks. */
static int change(struct store *s, enum store_stmt which, const char *text)
{
	sqlite3_stmt *st = store_sql(s, which);

	if (st == NULL)
		return store_sql_failed(s);
	if (text != NULL)
		store_bind_text(st, 1, text);
	return store_sql_step(s, st);
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
		rc = change(s, STMT_TRIM_SESSIONS, NULL);
	return rc;
}

/* The texts of ST's row in one block, which R owns. */
static void read_texts(struct store_req *r, sqlite3_stmt *st)
{
	size_t size = 0, len;
	char *to;

	for (int i = 0; i < (int)ARRAY_LEN(texts); i++)
		size += strlen(store_text(st, i)) + 1;
	free(r->found_text);
	to = r->found_text = xrealloc(NULL, size);
	for (int i = 0; i < (int)ARRAY_LEN(texts); i++) {
		const char *text = store_text(st, i);

		len = strlen(text) + 1;
		memcpy(to, text, len);
		*(const char **)((char *)&r->found_session + texts[i]) = to;
		to += len;
	}
}

static int get_session(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st = store_sql(s, STMT_GET_SESSION);
	int rc;

	if (st == NULL)
		return store_sql_failed(s);
	store_bind_text(st, 1, r->key);
	sqlite3_bind_int64(st, 2, r->time_ms);
	while ((rc = store_sql_step(s, st)) == 1) {
		read_texts(r, st);
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
