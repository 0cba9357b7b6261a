/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_runs.c - rows of runs on the store's thread: written, found by id, by
 * idempotency key, listed by page. Reached by the operations in
 * store_impl.h. A row that the table refuses fails its request alone with
 * -EEXIST or the like; other errors fail the batch, which is tried again.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* HEAD and BULK of store_schema.c */
enum {
	COL_ID,
	COL_REQUESTOR,
	COL_TEMPLATE,
	COL_VERSION,
	COL_DIGEST,
	COL_STATUS,
	COL_CREATED,
	COL_STARTED,
	COL_UPDATED,
	COL_FINISHED,
	COL_EXPIRES,
	COL_IDEM_KEY,
	COL_IDEM_DIGEST,
	COL_CANCELLING,
	COL_TASK,
	COL_TASK_TTL,
	COL_TASK_EXPIRES,
	COL_TASK_NOTE,
	COL_INPUTS,
	COL_OPTIONS,
	COL_VIEW,
	COL_LOG,
	COL_INSTANCE, /* of STMT_PUT_RUN alone */
	COL_BYTES,    /* likewise */
};

#define FIELD(name) offsetof(struct store_run, name)

static const struct store_field texts[] =
    {
	{COL_REQUESTOR, FIELD(requestor)},
	{COL_TEMPLATE, FIELD(template_id)},
	{COL_VERSION, FIELD(version)},
	{COL_DIGEST, FIELD(digest)},
	{COL_IDEM_KEY, FIELD(idem_key)},
	{COL_IDEM_DIGEST, FIELD(idem_digest)},
	{COL_INPUTS, FIELD(inputs)},
	{COL_OPTIONS, FIELD(options)},
	{COL_VIEW, FIELD(view)},
	{COL_LOG, FIELD(log)},
	{COL_TASK_NOTE, FIELD(task_note)},
},
				times[] = {
				    {COL_CREATED, FIELD(created_ms)},
				    {COL_STARTED, FIELD(started_ms)},
				    {COL_UPDATED, FIELD(updated_ms)},
				    {COL_FINISHED, FIELD(finished_ms)},
				    {COL_EXPIRES, FIELD(expires_ms)},
				    {COL_TASK_TTL, FIELD(task_ttl_ms)},
				    {COL_TASK_EXPIRES, FIELD(task_expires_ms)},
};

int64_t store_row_bytes(const struct store_run *run)
{
	const char *const large[] = {run->inputs, run->options, run->view,
				     run->log};
	int64_t bytes = STORE_ROW_BYTES;

	for (size_t i = 0; i < ARRAY_LEN(large); i++)
		bytes += large[i] != NULL ? (int64_t)strlen(large[i]) : 0;
	return bytes;
}

static void bind_run(sqlite3_stmt *st, const struct store_run *run)
{
	const char *base = (const char *)run;

	store_bind(st, COL_ID + 1, STORE_STR(run->id));
	store_bind(st, COL_STATUS + 1, STORE_NUM(run->status));
	store_bind(st, COL_CANCELLING + 1, STORE_NUM(run->cancelling));
	store_bind(st, COL_TASK + 1, STORE_NUM(run->task));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		store_bind(
		    st, texts[i].col + 1,
		    STORE_STR(*(const char *const *)(base + texts[i].at)));
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		store_bind(st, times[i].col + 1,
			   STORE_NUM(*(const int64_t *)(base + times[i].at)));
}

/* R asked for what the table refuses; that is no fault of the disk. */
static void refused(struct store *s, struct store_req *r, int code)
{
	if (code == SQLITE_CONSTRAINT_UNIQUE)
		store_req_fail(r, -EEXIST,
			       "another run of %s holds this idempotency key; "
			       "look it up, or use another",
			       r->run.template_id);
	else if ((code & 0xFF) == SQLITE_TOOBIG)
		store_req_fail(
		    r, -E2BIG,
		    "%s: run %s is more than SQLite stores in a row; "
		    "make its result smaller, or an artifact",
		    s->db_path, r->run.id);
	else
		store_req_fail(r, -EINVAL, "%s: run %s: %s", s->db_path,
			       r->run.id, sqlite3_errmsg(s->db));
}

static int put_run(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st = store_sql(s, STMT_PUT_RUN);
	int code;

	if (st == NULL)
		return store_sql_failed(s);
	bind_run(st, &r->run);
	store_bind(st, COL_INSTANCE + 1, STORE_STR(s->instance));
	store_bind(st, COL_BYTES + 1, STORE_NUM(store_row_bytes(&r->run)));
	code = sqlite3_step(st);
	if (code == SQLITE_CONSTRAINT_UNIQUE && r->retry) {
		/* the run was promised, its key was not */
		sqlite3_reset(st);
		store_bind(st, COL_IDEM_KEY + 1, STORE_STR(NULL));
		code = sqlite3_step(st);
	}
	if ((code & 0xFF) == SQLITE_CONSTRAINT || code == SQLITE_TOOBIG) {
		refused(s, r, code);
		code = SQLITE_DONE;
	}
	if (code != SQLITE_DONE)
		code = store_sql_failed(s);
	else
		code = 0;
	sqlite3_reset(st);
	return code;
}

void store_run_row(struct store_req *r, sqlite3_stmt *st)
{
	struct store_run *run = store_req_row(r);

	snprintf(run->id, sizeof(run->id), "%s", store_text(st, COL_ID));
	run->status = (enum store_status)sqlite3_column_int(st, COL_STATUS);
	run->cancelling = sqlite3_column_int(st, COL_CANCELLING) != 0;
	run->task = (enum store_task)sqlite3_column_int(st, COL_TASK);
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		*(int64_t *)((char *)run + times[i].at) =
		    sqlite3_column_int64(st, times[i].col);
	r->row_text[r->res.n_runs - 1] =
	    store_read_texts(st, run, texts, ARRAY_LEN(texts));
}

/* Every row that ST yields, into R's answer. */
static int read_rows(struct store *s, struct store_req *r, sqlite3_stmt *st)
{
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		store_run_row(r, st);
	return rc;
}

static int read_one(struct store *s, struct store_req *r, sqlite3_stmt *st,
		    const char *what)
{
	int rc = read_rows(s, r, st);

	if (rc == 0 && r->res.n_runs == 0)
		store_req_fail(r, -ENOENT, "no such %s", what);
	return rc;
}

static int get_by_id(struct store *s, struct store_req *r,
		     enum store_stmt which)
{
	sqlite3_stmt *st =
	    store_query(s, which, STORE_STR(r->requestor), STORE_STR(r->id));
	int rc = read_one(s, r, st, "run");

	if (rc != 0 || r->decided || r->rows[0].status > STORE_RUNNING)
		return rc;
	return store_read_shown(s, r, &r->rows[0], which == STMT_GET_RUN);
}

static int get_run(struct store *s, struct store_req *r)
{
	return get_by_id(s, r, STMT_GET_RUN);
}

static int get_task(struct store *s, struct store_req *r)
{
	return get_by_id(s, r, STMT_GET_TASK);
}

static int list_tasks(struct store *s, struct store_req *r)
{
	return read_rows(s, r,
			 store_query(s, STMT_LIST_TASKS,
				     STORE_STR(r->requestor), STORE_STR(r->id),
				     STORE_NUM(r->time_ms),
				     STORE_NUM(r->limit)));
}

static int find_idem(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st =
	    store_query(s, STMT_FIND_IDEM, STORE_STR(r->requestor),
			STORE_STR(r->id), STORE_STR(r->key));

	return read_one(s, r, st, "idempotency key");
}

static int count_matches(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st = store_query(
	    s, STMT_COUNT, STORE_STR(r->filter.requestor),
	    STORE_STR(r->filter.template_id), STORE_NUM(r->filter.status));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		r->res.total = sqlite3_column_int64(st, 0);
	return rc;
}

static enum store_stmt list_of(const struct store_filter *f)
{
	enum { ANY, OPEN, ENDED };
	static const enum store_stmt lists[2][3] = {
	    {STMT_LIST_ANY, STMT_LIST_OPEN, STMT_LIST_ENDED},
	    {STMT_LIST_TEMPLATE, STMT_LIST_TEMPLATE_OPEN,
	     STMT_LIST_TEMPLATE_ENDED},
	};
	int sort = f->status < 0		? ANY
		   : f->status <= STORE_RUNNING ? OPEN
						: ENDED;

	return lists[f->template_id != NULL][sort];
}

static int list_runs(struct store *s, struct store_req *r)
{
	const struct store_filter *f = &r->filter;
	int rc = count_matches(s, r);

	if (rc != 0 || f->offset >= r->res.total || f->limit <= 0)
		return rc;
	return read_rows(s, r,
			 store_query(s, list_of(f), STORE_STR(f->requestor),
				     STORE_STR(f->template_id),
				     STORE_NUM(f->limit), STORE_NUM(f->offset),
				     STORE_NUM(f->status)));
}

const struct store_op store_op_put_run = {
    .name = "put_run", .writes = true, .exec = put_run};
const struct store_op store_op_get_run = {
    .name = "get_run", .large = true, .exec = get_run};
const struct store_op store_op_get_task = {.name = "get_task",
					   .exec = get_task};
const struct store_op store_op_list_tasks = {.name = "list_tasks",
					     .exec = list_tasks};
const struct store_op store_op_find_idem = {.name = "find_idem",
					    .exec = find_idem};
const struct store_op store_op_list_runs = {.name = "list_runs",
					    .exec = list_runs};
