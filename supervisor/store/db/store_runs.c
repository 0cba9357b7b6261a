/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_runs.c - rows of runs on the store's thread: writes a row, finds a run
 * by id or idempotency key, lists runs by page. Called by the operations of
 * store_impl.h. A row that the table refuses fails its request alone with
 * -EEXIST or the like; other errors fail the batch, which is repeated.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/os/log.h"

#define PIECE_STEPS 4 /* 1, 4, 16 and 64 pieces, then all others */

#define MEMBER(kind, name) STORE_COLUMN(kind, store_run, name)
#define COLUMN(t, n, name, kind, ...) MEMBER(kind, name),

enum { NODE = 24, AFTER_NODE }; /* number of the column in store_columns.def */

/*
 * The columns in the order in which statements read them. The columns before NODE are the
 * first parameters of PUT_RUN.
 */
static const struct store_column columns[] = {
    MEMBER(ID, id), MEMBER(TEXT, requestor),
    STORE_RUN_HEAD(COLUMN, ) MEMBER(TEXT, inputs),
    STORE_RUN_BULK(COLUMN, )[NODE] = MEMBER(TEXT, node),
    STORE_RUN_ADDED(COLUMN, )};

int64_t store_row_bytes(const struct store_run *run)
{
	const char *const large[] = {run->inputs, run->options, run->view,
				     run->log};
	int64_t bytes =
	    STORE_ROW_BYTES + (run->inputs == NULL ? run->inputs_before : 0);

	for (size_t i = 0; i < ARRAY_LEN(large); i++)
		bytes += large[i] != NULL ? (int64_t)strlen(large[i]) : 0;
	return bytes;
}

/*
 * Write RUN's row into the table of runs, or into the table "staged"
 * (store_staged.c). After the columns the statement takes values which struct
 * store_run does not have, such as the bytes of the row. 0 or -errno.
 */
static int write_row(struct store *s, const struct store_run *run)
{
	struct store_cursor *st;
	const int rest = NODE;

	if (run->corrects)
		return store_change(
		    s, STMT_CORRECT_RUN, STORE_STR(run->requestor),
		    STORE_STR(run->id), STORE_STR(run->view),
		    STORE_NUM(store_row_bytes(run)), STORE_NUM(run->cpu_ms));
	st = store_sql(s, s->staging ? STMT_STAGE_RUN : STMT_PUT_RUN);
	store_bind_row(st, 1, run, columns, NODE);
	store_bind(st, rest + 1, STORE_STR(s->instance));
	store_bind(st, rest + 2, STORE_NUM(store_row_bytes(run)));
	store_bind(st, rest + 3, STORE_NUM(run->cpu_ms));
	store_bind(st, rest + 4, STORE_NUM(run->inputs_before > 0));
	store_bind(st, rest + 5,
		   STORE_STR(run->began_here && store_is_shared(s)
				 ? store_node_name(s)
				 : NULL));
	store_bind_row(st, STORE_RUN_FIRST_ADDED, run, columns + AFTER_NODE,
		       ARRAY_LEN(columns) - AFTER_NODE);
	return store_sql_step(s, st);
}

/* The table refuses R's values, which is no fault of the disk. */
static void note_refused(struct store *s, struct store_req *r, int rc)
{
	if (rc == -EEXIST)
		store_req_fail(r, -EEXIST,
			       "another run of %s holds this idempotency key; "
			       "look it up, or use another",
			       r->run.template_id);
	else if (rc == -E2BIG)
		store_req_fail(
		    r, -E2BIG,
		    "%s: run %s is more than SQLite stores in a row; "
		    "make its result smaller, or an artifact",
		    s->db_path, r->run.id);
	else
		store_req_fail(r, -EINVAL, "%s: run %s: %s", s->db_path,
			       r->run.id, s->engine->words(s));
	s->errmsg[0] = '\0';
}

/* Does the database refuse the text of a promised end with the error RC? */
static bool is_end_refused(const struct store *s, const struct store_req *r,
			   int rc)
{
	return (rc == -EINVAL || rc == -E2BIG) && store_is_shared(s) &&
	       r->retry && r->run.finished_ms > 0;
}

static int put_run(struct store *s, struct store_req *r)
{
	struct store_run run = r->run;
	bool is_room;
	int rc;

	if (run.refused && store_is_shared(s))
		return store_change(s, STMT_DROP_REFUSED,
				    STORE_STR(run.requestor), STORE_STR(run.id),
				    STORE_STR(s->instance));
	rc = store_queue_room(s, &run, &is_room);
	if (rc == 0 && !is_room)
		store_req_fail(r, -EXFULL, "%lld runs of %s wait already",
			       (long long)run.queued_most, run.requestor);
	if (rc != 0 || !is_room)
		return rc;
	if (run.inputs == NULL)
		run.inputs = r->inputs_carried;
	rc = write_row(s, &run);
	if (rc == -EEXIST && r->retry && run.unsure) {
		s->errmsg[0] = '\0';
		return 0;
	}
	if (rc == -EEXIST && r->retry) {
		/* the run was promised, the idempotency key was not */
		s->errmsg[0] = '\0';
		run.idem_key = NULL;
		rc = write_row(s, &run);
	}
	if (is_end_refused(s, r, rc)) {
		/* without texts, since otherwise the end would never be recorded */
		log_rarely("store", "run=%s record=bare err=\"%s\"", run.id,
			   s->engine->words(s));
		s->errmsg[0] = '\0';
		run.view = run.log = run.options = run.inputs = NULL;
		run.task_note = NULL;
		rc = write_row(s, &run);
		if (rc != 0) /* the end was promised */
			return rc;
	}
	if (rc == 0)
		return store_enqueue(s, &run);
	if (!store_is_refused(rc) && rc != -E2BIG)
		return rc;
	note_refused(s, r, rc);
	return 0;
}

/*
 * Wake an instance that could start the run, or the instance that queued the
 * run and waits for the end.
 */
static void tell_others(struct store *s, struct store_req *r)
{
	const struct store_run *run = &r->run;

	if (!store_is_shared(s) || r->res.rc != 0)
		return;
	if (run->status > STORE_RUNNING)
		store_wake_node(s, run->home);
	else if (run->status == STORE_QUEUED &&
		 run->waits != STORE_WAITS_HERE &&
		 run->waits != STORE_WAITS_PINNED)
		store_wake_some(s, run->id);
}

void store_run_row(struct store_req *r, struct store_cursor *st)
{
	struct store_run *run = store_req_row(r);

	r->row_text[r->res.n_runs - 1] =
	    store_read_row(st, run, columns, ARRAY_LEN(columns));
}

/* Add every row of ST to R's answer. */
static int read_rows(struct store *s, struct store_req *r,
		     struct store_cursor *st)
{
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		store_run_row(r, st);
	return rc;
}

static int read_one(struct store *s, struct store_req *r,
		    struct store_cursor *st, const char *what)
{
	int rc = read_rows(s, r, st);

	if (rc == 0 && r->res.n_runs == 0)
		store_req_fail(r, -ENOENT, "no such %s", what);
	return rc;
}

static int get_by_id(struct store *s, struct store_req *r,
		     enum store_stmt which)
{
	int rc = 0;

	if (s->blind)
		rc = read_rows(
		    s, r,
		    store_query(s, STMT_GET_STAGED, STORE_STR(r->requestor),
				STORE_STR(r->id),
				STORE_NUM(which == STMT_GET_INPUTS)));
	if (rc == 0 && r->res.n_runs == 0)
		rc = read_one(s, r,
			      store_query(s, which, STORE_STR(r->requestor),
					  STORE_STR(r->id)),
			      "run");
	if (rc != 0 || r->decided || r->rows[0].status > STORE_RUNNING)
		return rc;
	return store_read_shown(s, r, &r->rows[0], which == STMT_GET_RUN);
}

static int get_run(struct store *s, struct store_req *r)
{
	return get_by_id(s, r, STMT_GET_RUN);
}

static int get_inputs(struct store *s, struct store_req *r)
{
	return get_by_id(s, r, STMT_GET_INPUTS);
}

static int get_task(struct store *s, struct store_req *r)
{
	return get_by_id(s, r, STMT_GET_TASK);
}

static int find_idem(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_FIND_IDEM, STORE_STR(r->requestor),
			STORE_STR(r->id), STORE_STR(r->key));

	return read_one(s, r, st, "idempotency key");
}

static int find_child(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_FIND_CHILD, STORE_STR(r->requestor),
			STORE_STR(r->key), STORE_NUM(r->time_ms));

	return read_one(s, r, st, "child");
}

/* ---- pages ---- */

/*
 * A page: LIMIT rows after OFFSET, of the rows that LIST finds from FROM on,
 * before BEFORE.
 */
struct page {
	int (*list)(struct store *s, struct store_req *r, const char *from,
		    const char *before, int64_t limit, int64_t offset);
	const char *from, *before;
	int64_t limit, offset;
};

static const char *from_of(const struct store_filter *f)
{
	return f->from != NULL ? f->from : "";
}

static const char *before_of(const struct store_filter *f)
{
	return f->before != NULL ? f->before : ID_AFTER_ALL;
}

static int read_count(struct store *s, struct store_cursor *st, int64_t *n)
{
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		*n = store_number(st, 0);
	return rc;
}

/* Count the rows of F from id FROM on, before BEFORE. */
static int count_between(struct store *s, const struct store_filter *f,
			 const char *from, const char *before, int64_t *n)
{
	return read_count(
	    s,
	    store_query(s, STMT_COUNT_RANGE, STORE_STR(f->requestor),
			STORE_STR(f->template_id), STORE_NUM(f->status),
			STORE_STR(from), STORE_STR(before)),
	    n);
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

static int list_between(struct store *s, struct store_req *r, const char *from,
			const char *before, int64_t limit, int64_t offset)
{
	const struct store_filter *f = &r->filter;

	return read_rows(s, r,
			 store_query(s, list_of(f), STORE_STR(f->requestor),
				     STORE_STR(f->template_id),
				     STORE_NUM(limit), STORE_NUM(offset),
				     STORE_NUM(f->status), STORE_STR(from),
				     STORE_STR(before)));
}

static int list_tasks_between(struct store *s, struct store_req *r,
			      const char *from, const char *before,
			      int64_t limit, int64_t offset)
{
	/* a page of tasks continues after a task id, not at an offset */
	(void)offset;
	return read_rows(s, r,
			 store_query(s, STMT_LIST_TASKS,
				     STORE_STR(r->requestor), STORE_STR(before),
				     STORE_NUM(r->time_ms), STORE_NUM(limit),
				     STORE_STR(from)));
}

/*
 * Add the rows of P from FROM on, before BEFORE, and reduce the offset by the
 * skipped rows.
 */
static int list_piece(struct store *s, struct store_req *r, struct page *p,
		      const char *from, const char *before)
{
	size_t had = r->res.n_runs;
	int64_t left_out = 0;
	int rc =
	    p->list(s, r, from, before, p->limit - (int64_t)had, p->offset);

	if (rc != 0 || p->offset == 0)
		return rc;
	if (r->res.n_runs > had) {
		p->offset = 0;
		return 0;
	}
	rc = count_between(s, &r->filter, from, before, &left_out);
	p->offset -= left_out < p->offset ? left_out : p->offset;
	return rc;
}

/*
 * Read runs that are partitioned by time: first the newest partitions, then four times as
 * far back, until P is full, since a plan with few partitions is cheap.
 */
static int list_pieces(struct store *s, struct store_req *r, struct page p)
{
	char ids[2][ID_SIZE];
	int64_t back_ms = s->engine->piece_ms, now_ms = clock_wall_ms();
	int rc = 0;

	for (int i = 0; rc == 0 && (int64_t)r->res.n_runs < p.limit; i++) {
		char *since = ids[i % 2];

		id_since(since, "run", now_ms - back_ms);
		back_ms *= 4;
		if (i == PIECE_STEPS || strcmp(since, p.from) < 0)
			snprintf(since, ID_SIZE, "%s", p.from);
		if (strcmp(since, p.before) < 0)
			rc = list_piece(s, r, &p, since, p.before);
		if (strcmp(since, p.from) == 0)
			break;
		if (strcmp(since, p.before) < 0)
			p.before = since;
	}
	return rc;
}

static int list_page(struct store *s, struct store_req *r, struct page p)
{
	if (s->engine->piece_ms > 0)
		return list_pieces(s, r, p);
	return p.list(s, r, p.from, p.before, p.limit, p.offset);
}

static int list_runs(struct store *s, struct store_req *r)
{
	const struct store_filter *f = &r->filter;
	int64_t rest;
	int rc;

	if (f->from != NULL || f->before != NULL)
		rc = count_between(s, f, from_of(f), before_of(f),
				   &r->res.total);
	else
		rc = read_count(s,
				store_query(s, STMT_COUNT,
					    STORE_STR(f->requestor),
					    STORE_STR(f->template_id),
					    STORE_NUM(f->status)),
				&r->res.total);
	rest = r->res.total - f->offset;
	if (rc != 0 || rest <= 0 || f->limit <= 0)
		return rc;
	return list_page(s, r,
			 (struct page){list_between, from_of(f), before_of(f),
				       f->limit < rest ? f->limit : rest,
				       f->offset});
}

static int list_tasks(struct store *s, struct store_req *r)
{
	return list_page(
	    s, r, (struct page){list_tasks_between, "", r->id, r->limit, 0});
}

STORE_OP(put_run, .writes = true, .ours = true, .whole = true,
	 .keep = tell_others);
STORE_OP(get_run, .large = true, .goes_ahead = true);
STORE_OP(get_inputs, .large = true, .goes_ahead = true);
STORE_OP(get_task, .goes_ahead = true);
STORE_OP(list_tasks);
STORE_OP(find_idem, .goes_ahead = true);
STORE_OP(find_child, .goes_ahead = true);
STORE_OP(list_runs);
